"""Writes the log's outbox to the file, after reconciling the two.

Runs under the log's lock and outside any transaction. The rows say what the file should contain,
the file's last line says what it does contain. They can differ after

- a crash between write and mark: the rows of lines found are marked, the lines not repeated;
- truncation or a power cut: the missing lines are appended again, byte for byte;
- rotation (an empty file): the chain continues from the last row;
- a restore of the database (the last line has no row): the chain continues from that line if its
  hash is valid, else from the last row, and `audit_verify` reports the line.
"""

import json
import logging
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.utils import timezone

from audit.core import chain
from audit.log.file import LogFile
from audit.models import LogEntry

BATCH: Final = 500

logger = logging.getLogger("audit.log")


class Position(NamedTuple):
    """The end of the chain: sequence number and hash of its last line."""

    sequence: int
    hash: str


class Line(NamedTuple):
    """A row and its line, with the hash of the line before it and the position after it."""

    row: LogEntry
    prev: str
    text: str
    at: Position


def write_batch(log: LogFile, *, host: str, sync: bool) -> int:
    """Returns how many lines were written or marked; 0: file and rows agree."""
    tail = log.cut_torn_tail()
    position = _last(host)
    if tail is None:
        position, marked = _mark_found(log.rotated_lines_backwards(), host, position)
    elif tail.get("hash") == position.hash:
        marked = 0
    else:
        if restored := _restore_missing(log, tail, host, position, sync=sync):
            return restored
        if sync:
            log.sync()  # before a row is marked: the process that wrote it may not have synced
        waiting = LogEntry.objects.pending(host).exists()
        position, marked = _mark_found(log.lines_backwards(), host, position, go_on=waiting)
    return marked + _write_pending(log, host, position, sync=sync)


def restore_after(log: LogFile, *, host: str, after: int, sync: bool) -> int:
    """Append all lines after that sequence number to a file that has lost them."""
    total = 0
    while rows := _append_again(log, host, after, sync=sync):
        total, after = total + len(rows), rows[-1].sequence or 0
    return total


def seal_row(row: LogEntry, prev: str) -> chain.Sealed:
    """The row's line. For a written row, `row.prev` reproduces the same bytes."""
    return chain.seal(
        json.loads(row.entry),
        entry_id=row.public_id,
        salt=row.salt,
        commitment=row.commitment,
        prev=prev,
    )


def link(rows: Iterable[LogEntry], position: Position) -> list[Line]:
    """The lines for these rows, chained after `position`."""
    lines = []
    for row in rows:
        sealed = seal_row(row, position.hash)
        lines.append(Line(row, position.hash, sealed.line, position := _next(position, sealed)))
    return lines


def mark(lines: Iterable[Line]) -> None:
    """Mark the rows of these lines as written, in one transaction."""
    now = timezone.now()
    with transaction.atomic():
        for row, prev, _, at in lines:
            LogEntry.objects.filter(pk=row.pk, written_at=None).update(
                sequence=at.sequence, prev=prev, hash=at.hash, written_at=now
            )


def _write_pending(log: LogFile, host: str, position: Position, *, sync: bool) -> int:
    lines = link(LogEntry.objects.pending(host)[:BATCH], position)
    if lines:
        log.append("".join(line.text for line in lines).encode(), sync=sync)
        mark(lines)
    return len(lines)


def _restore_missing(
    log: LogFile, tail: dict[str, Any], host: str, position: Position, *, sync: bool
) -> int:
    """Append the written rows that follow the file's last line, if that line has a row."""
    known = LogEntry.objects.written(host).filter(public_id=chain.entry_id(tail)).first()
    if known is None or known.sequence == position.sequence:
        return 0
    return len(_append_again(log, host, known.sequence or 0, sync=sync))


def _append_again(log: LogFile, host: str, after: int, *, sync: bool) -> list[LogEntry]:
    rows = list(LogEntry.objects.written(host).filter(sequence__gt=after)[:BATCH])
    if rows:
        log.append("".join(seal_row(row, row.prev).line for row in rows).encode(), sync=sync)
        logger.warning("%d lines were missing at the end of the log and were restored", len(rows))
    return rows


def _mark_found(
    lines: Iterator[bytes], host: str, position: Position, *, go_on: bool = False
) -> tuple[Position, int]:
    """Mark the pending rows whose lines are at the end of the file.

    `go_on`: continue the chain from a last line that has no row, if its hash is valid.
    """
    last = list(islice(lines, BATCH + 1))
    parsed = [chain.parse(line) or {} for line in last]
    ids = [chain.entry_id(fields) for fields in parsed]
    rows = {row.public_id: row for row in LogEntry.objects.filter(host=host, public_id__in=ids)}
    pending = {name for name, row in rows.items() if row.written_at is None}
    found = list(takewhile(pending.__contains__, ids))
    if go_on and len(found) < len(last) and ids[len(found)] not in rows:
        position = _from_unknown(last[len(found)], parsed[len(found)], position)
    due = link((rows[name] for name in reversed(found)), position)
    written = _matching(due, reversed(parsed[: len(found)]))
    if not written:
        return position, 0
    mark(written)
    return written[-1].at, len(written)


def _matching(due: Iterable[Line], parsed: Iterable[dict[str, Any]]) -> list[Line]:
    """Lines identical to those of their rows. Others are forged, and their rows stay pending."""
    pairs = zip(due, parsed, strict=True)
    return [line for line, fields in pairs if line.at.hash == fields.get("hash")]


def _from_unknown(line: bytes, fields: dict[str, Any], position: Position) -> Position:
    valid = chain.verify(line.decode("ascii", "replace"), str(fields.get("prev"))) is None
    logger.warning(
        "the log's last line is not in the database; the chain continues from %s",
        "that line" if valid else "the last line that is",
    )
    return Position(position.sequence, fields["hash"]) if valid else position


def _next(position: Position, sealed: chain.Sealed) -> Position:
    return Position(position.sequence + 1, sealed.hash)


def _last(host: str) -> Position:
    row = LogEntry.objects.written(host).values_list("sequence", "hash").last()
    return Position(row[0] or 0, row[1]) if row else Position(0, chain.GENESIS)
