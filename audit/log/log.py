"""The append-only log: `append` in your transaction, and the line is written after the commit.

No line is written without its commit. A line that cannot be written now is reported in the
service log, counted on its row, and written by a later `flush` or `sweep`; a failed write never
raises into the caller.
"""

import json
import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from audit.core import chain
from audit.core.record import canonical_line
from audit.core.redaction import redacted
from audit.log.erasure import apply_erasures
from audit.log.file import LogFile, locked, open_locked
from audit.log.writer import BATCH, write_batch
from audit.log_context import log_session
from audit.models import DayCount, LogEntry

FLUSH_LOCK_TIMEOUT: Final = 0.05
SWEEP_LOCK_TIMEOUT: Final = 5.0

logger = logging.getLogger("audit.log")


def append(entry: Mapping[str, Any]) -> LogEntry:
    """Store an entry in the caller's transaction; its line is written after the commit.

    Raises if the entry cannot be serialized, so that no state commits without its record.
    """
    if reserved := chain.RESERVED & entry.keys():
        raise ValueError(f"keys reserved for the hash chain: {', '.join(sorted(reserved))}")
    row = LogEntry(host=settings.ORACLE_LOG_NAME, entry=canonical_line(entry).rstrip())
    if chain.PREVIEW in entry:
        if not isinstance(entry[chain.PREVIEW], str):
            raise TypeError("the preview must be a string")
        row.salt = secrets.token_hex(16)
        row.commitment = chain.commitment(row.salt, entry[chain.PREVIEW])
    row.save()
    transaction.on_commit(flush, robust=True)
    return row


def flush() -> int:
    """Write pending lines, unless another process holds the lock; returns how many were written.

    Does nothing inside a transaction: a line must not be written before its commit.
    """
    if (
        connection.in_atomic_block
        or not LogEntry.objects.pending(settings.ORACLE_LOG_NAME).exists()
    ):
        return 0
    return _write(FLUSH_LOCK_TIMEOUT)


def sweep() -> int:
    """Write all pending lines, restore missing ones, blank erased previews; returns how many."""
    if connection.in_atomic_block:
        return 0
    total = 0
    while done := _write(SWEEP_LOCK_TIMEOUT) + _erase():
        total += done
    return total


def is_cut_short() -> bool:
    """Whether this host's file lacks lines that the database marks as written.

    `sweep` restores them. An empty or missing file is normal after rotation. Raises OSError.
    """
    path, host = settings.ORACLE_LOG_PATH, settings.ORACLE_LOG_NAME
    with locked(path, FLUSH_LOCK_TIMEOUT) as held:
        if not held or not path.exists():
            return False  # the process that holds the lock restores them
        with LogFile(path) as log:
            last = chain.parse(next(log.lines_backwards(), b"")) or {}
        known = LogEntry.objects.written(host).filter(public_id=chain.entry_id(last)).first()
        after = LogEntry.objects.written(host).last()
    return bool(known and after and known.pk != after.pk)


def _write(timeout: float) -> int:
    path, host = settings.ORACLE_LOG_PATH, settings.ORACLE_LOG_NAME
    try:
        with open_locked(path, timeout) as log:
            return write_batch(log, host=host, sync=settings.ORACLE_LOG_SYNC) if log else 0
    except (OSError, DatabaseError) as error:
        _report(host, error)
        return 0


def _erase() -> int:
    try:
        return apply_erasures()
    except (OSError, DatabaseError) as error:
        cause = str(error) if isinstance(error, OSError) else type(error).__name__
        # TRY400: a traceback may quote a row.
        logger.error("erased previews are still in the log files: %s", cause)  # noqa: TRY400
        return 0


def _report(host: str, error: OSError | DatabaseError) -> None:
    """Count the failure on every pending row, and log each row's entry once."""
    # Only the type of a database error: its text may quote a row.
    cause = str(error) if isinstance(error, OSError) else type(error).__name__
    logger.error("the log cannot be written: %s", cause)
    try:
        rows = list(LogEntry.objects.pending(host)[:BATCH])
        LogEntry.objects.filter(pk__in=[row.pk for row in rows]).update(failures=F("failures") + 1)
        DayCount.add(timezone.now().date(), DayCount.LOG_FAILURE)
    except DatabaseError:
        return  # logged above; the rows stay pending
    for row in rows:
        if row.failures == 0:
            entry = json.loads(row.entry)
            shown = canonical_line(redacted(entry)).rstrip()
            with log_session(entry.get("session_id")):  # not necessarily the current one
                logger.error("not in the log yet: %s %s", row.public_id, shown)
