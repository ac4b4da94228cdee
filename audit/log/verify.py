"""Verifies this host's log files against the database, repairs them, exports the record.

The lock is held only while the files are opened and the last row is read, so that verifying long
files does not block writers.
"""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from django.conf import settings
from django.db.models import Max

from audit.core import chain
from audit.core.verification import Findings, Line, Row, examine
from audit.log import log
from audit.log.erasure import erase_again
from audit.log.file import MODE, LogFile, locked, rotated
from audit.log.writer import Position, restore_after, seal_row
from audit.models import LogEntry

CHUNK: Final = 2000
MAX_LINE_BYTES: Final = 1024 * 1024  # far beyond any line of ours
ORDER_LINES: Final = 100  # read from a file's beginning to find its place in the record

Tick = Callable[[int], None]


class Busy(Exception):
    """Another process holds the log's lock."""


class Damaged(Exception):
    """A row does not reproduce its recorded hash: the database was altered."""


class _Part(NamedTuple):
    name: str
    file: IO[bytes]
    size: int | None  # of the current file: lines appended later are not examined


def verify_log(*, older_elsewhere: bool = False, tick: Tick = lambda _: None) -> Findings:
    """All defects of this host's files. Raises Busy and OSError."""
    path, host = settings.ORACLE_LOG_PATH, settings.ORACLE_LOG_NAME
    with ExitStack() as stack:
        with _held(path):
            parts = _open(path, stack)
            last = LogEntry.objects.written(host).aggregate(last=Max("sequence"))["last"] or 0
        parts.sort(key=lambda part: (part.size is not None, _begun(part, host)))
        rows = LogEntry.objects.written(host).filter(sequence__lte=last)
        return examine(
            _ticked(_lines(parts), tick),
            (_row(row, host) for row in rows.iterator(chunk_size=CHUNK)),
            lambda entry_id, prev: _find(entry_id, prev, host),
            older_elsewhere=older_elsewhere,
        )


def repair_log(found: Findings) -> None:
    """Restore missing lines from the database, and blank previews that were erased.

    The writer repairs every case but one: it takes an empty file for the result of a rotation,
    and only `found` tells that lines were lost with it.
    """
    path = settings.ORACLE_LOG_PATH
    erase_again(found.not_erased)
    if found.cut_after is not None:
        with _held(path), LogFile(path) as file:
            if file.cut_torn_tail() is None:
                restore_after(
                    file,
                    host=settings.ORACLE_LOG_NAME,
                    after=found.cut_after,
                    sync=settings.ORACLE_LOG_SYNC,
                )
    log.sweep()


class Exported(NamedTuple):
    lines: int
    missing_at: int  # the first sequence number that does not continue the chain; 0: none


def export_log(target: Path, *, host: str, tick: Tick = lambda _: None) -> Exported:
    """Write that host's whole record to a new file.

    Raises FileExistsError, other OSErrors and Damaged; no file is left then.
    """
    written, missing_at, last = 0, 0, Position(0, chain.GENESIS)
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE)
    try:
        with os.fdopen(fd, "wb") as file:
            for row in LogEntry.objects.written(host).iterator(chunk_size=CHUNK):
                file.write(_recorded(row).encode())
                if not missing_at and (row.sequence, row.prev) != (last.sequence + 1, last.hash):
                    missing_at = last.sequence + 1
                last = Position(row.sequence or 0, row.hash)
                written += 1
                tick(written)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        target.unlink()
        raise
    return Exported(written, missing_at)


def _recorded(row: LogEntry) -> str:
    sealed = seal_row(row, row.prev)
    if sealed.hash != row.hash:
        raise Damaged(f"the row with sequence number {row.sequence} was altered")
    return sealed.line


@contextmanager
def _held(path: Path) -> Iterator[None]:
    with locked(path, log.SWEEP_LOCK_TIMEOUT) as held:
        if not held:
            raise Busy
        yield


def _open(path: Path, stack: ExitStack) -> list[_Part]:
    """Open all files at once: a later rotation renames files that are already open."""
    parts = []
    for one in rotated(path):
        file: IO[bytes] = stack.enter_context(one.open("rb"))
        if one.suffix == ".gz":
            file = cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=file)))
        parts.append(_Part(one.name, file, None))
    if path.exists():
        current = stack.enter_context(path.open("rb"))
        parts.append(_Part(path.name, current, os.fstat(current.fileno()).st_size))
    return parts


def _begun(part: _Part, host: str) -> tuple[int, str]:
    """The file's place in the record, by its first lines: sequence number, else timestamp."""
    first = ""
    sequence = None
    for line, _ in zip(_of_part(part), range(ORDER_LINES), strict=False):
        fields = chain.parse(line.text) or {}
        first = first or str(fields.get("timestamp", ""))
        known = LogEntry.objects.written(host).filter(public_id=chain.entry_id(fields))
        sequence = known.values_list("sequence", flat=True).first()
        if sequence:
            break
    part.file.seek(0)
    return sequence or 0, first


def _lines(parts: list[_Part]) -> Iterator[Line]:
    for part in parts:
        yield from _of_part(part)


def _of_part(part: _Part) -> Iterator[Line]:
    left, number = part.size, 0
    try:
        while text := part.file.readline(
            MAX_LINE_BYTES if left is None else min(left, MAX_LINE_BYTES)
        ):
            number += 1
            left = None if left is None else left - len(text)
            if len(text) == MAX_LINE_BYTES:  # not ours: reported as one line, whatever its length
                while text and not text.endswith(b"\n"):
                    text = part.file.readline(
                        MAX_LINE_BYTES if left is None else min(left, MAX_LINE_BYTES)
                    )
                    left = None if left is None else left - len(text)
                text = b"longer than any line\n"
            yield Line(part.name, number, text)
            if left == 0:
                return
    except (EOFError, zlib.error, gzip.BadGzipFile):
        yield Line(part.name, number + 1, b"damaged archive\n")


def _ticked(lines: Iterator[Line], tick: Tick) -> Iterator[Line]:
    for count, line in enumerate(lines, start=1):
        tick(count)
        yield line


def _row(row: LogEntry, host: str) -> Row:
    text = seal_row(row, row.prev).line if row.host == host else ""
    return Row(row.public_id, row.sequence, row.hash, text)


def _find(entry_id: str, prev: str, host: str) -> Row | None:
    row = LogEntry.objects.filter(public_id=entry_id).first()
    if row and row.host == host and row.sequence is None:
        sealed = seal_row(row, prev)
        return Row(row.public_id, None, sealed.hash, sealed.line)
    return _row(row, host) if row else None
