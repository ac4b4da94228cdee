"""oracle_log.jsonl: append in your transaction, and the line follows your commit.

A line is never there without its commit and never missing for long after it:
what cannot be written now is logged, counted on its row and written by a later
`flush` or by the `sweep`. A write that fails is never raised into a caller.
"""

import json
import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from audit.core import chain
from audit.core.record import canonical_line, timestamp
from audit.core.redaction import redacted
from audit.log import reader
from audit.log.erasure import apply_erasures
from audit.log.file import LogFile, locked, open_locked
from audit.log.reader import Past
from audit.log.writer import BATCH, write_batch
from audit.log_context import log_session
from audit.models import DayCount, LogEntry

FLUSH_LOCK_TIMEOUT: Final = 0.05
SWEEP_LOCK_TIMEOUT: Final = 5.0

logger = logging.getLogger("audit.log")


def append(entry: Mapping[str, Any]) -> LogEntry:
    """Put an entry on record with the caller's transaction; its line follows the commit.

    What is no JSON raises here, so that no state commits without its record.
    """
    if reserved := chain.RESERVED & entry.keys():
        raise ValueError(f"the chain sets these itself: {', '.join(sorted(reserved))}")
    row = LogEntry(host=settings.ORACLE_LOG_NAME, entry=canonical_line(entry).rstrip())
    if chain.PREVIEW in entry:
        if not isinstance(entry[chain.PREVIEW], str):
            raise TypeError("a preview is text")
        row.salt = secrets.token_hex(16)
        row.commitment = chain.commitment(row.salt, entry[chain.PREVIEW])
    row.save()
    transaction.on_commit(flush, robust=True)
    return row


def flush() -> int:
    """Write what is pending, unless another process is at it; returns how many lines.

    Inside a transaction it does nothing: a line must not come before its commit.
    """
    if (
        connection.in_atomic_block
        or not LogEntry.objects.pending(settings.ORACLE_LOG_NAME).exists()
    ):
        return 0
    return _write(FLUSH_LOCK_TIMEOUT)


def sweep() -> int:
    """Write all that is pending, mend what the file lacks, blank what was erased.

    Returns how many lines.
    """
    if connection.in_atomic_block:
        return 0
    total = 0
    while done := _write(SWEEP_LOCK_TIMEOUT) + _erase():
        total += done
    return total


def find_original(session_id: str) -> dict[str, Any] | None:
    """The session's first approved original in this host's log files, or None (R19)."""
    return reader.find_original(settings.ORACLE_LOG_PATH, session_id)


def pasts(session_ids: Collection[str], *, tick: Callable[[], None]) -> dict[str, Past]:
    """What this host's log files know of these sessions; `tick` may raise to end the walk."""
    return reader.pasts(settings.ORACLE_LOG_PATH, session_ids, tick=tick)


def pasts_since(since: datetime, *, tick: Callable[[], None]) -> dict[str, Past]:
    """Of all sessions: who was approved since then, and who was ever erased."""
    return reader.pasts_since(settings.ORACLE_LOG_PATH, timestamp(since), tick=tick)


def is_cut_short() -> bool:
    """Whether this host's file ends before its record does: `sweep` puts back what is missing.

    Raises OSError. An empty file, or none, is what rotation leaves.
    """
    path, host = settings.ORACLE_LOG_PATH, settings.ORACLE_LOG_NAME
    with locked(path, FLUSH_LOCK_TIMEOUT) as held:
        if not held or not path.exists():
            return False  # whoever writes just now brings it into step
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
        # TRY400: no traceback, whose text may quote a row.
        logger.error("erased previews are still in the log's files: %s", cause)  # noqa: TRY400
        return 0


def _report(host: str, error: OSError | DatabaseError) -> None:
    """Count the failure on every row that waits; tell each row's entry once."""
    # Of a database's error only its kind: its text may quote a row.
    cause = str(error) if isinstance(error, OSError) else type(error).__name__
    logger.error("the log cannot be written: %s", cause)
    try:
        rows = list(LogEntry.objects.pending(host)[:BATCH])
        LogEntry.objects.filter(pk__in=[row.pk for row in rows]).update(failures=F("failures") + 1)
        DayCount.add(timezone.now().date(), DayCount.LOG_FAILURE)
    except DatabaseError:
        return  # told above; the rows stay pending
    for row in rows:
        if row.failures == 0:
            entry = json.loads(row.entry)
            shown = canonical_line(redacted(entry)).rstrip()
            with log_session(entry.get("session_id")):  # it need not be the one that we are at
                logger.error("not in the log yet: %s %s", row.public_id, shown)
