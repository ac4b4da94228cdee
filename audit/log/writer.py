"""From the outbox into the file: brings both into step, then writes what is pending.

Runs under the log's lock and outside any transaction. The database says what
belongs into the file; the file's last line says what is there. Where they
differ, by cause:

- a crash after the write: lines of rows not marked yet are marked, not repeated;
- a file shorter than the record (power cut, truncation): its lines are put
  back as they were, byte for byte;
- no line at all (rotation): the chain goes on from the last row;
- a last line that no row knows (a database restored from a backup): the chain
  goes on from it if it is sound, else from the last row, for `audit_verify` to name.
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
    """Where the chain stands: the place and the hash of its last line."""

    sequence: int
    hash: str


class Line(NamedTuple):
    """A row as a line: the hash before it, its bytes, and where the chain stands after it."""

    row: LogEntry
    prev: str
    text: str
    at: Position


def write_batch(log: LogFile, *, host: str, sync: bool) -> int:
    """How many lines were written, or found written; 0 when all is in step."""
    tail = log.cut_torn_tail()
    position = _last(host)
    if tail is None:
        position, gained = _adopt(log.lines_before(), host, position)
    elif tail.get("hash") == position.hash:
        gained = 0
    else:
        if put_back := _put_back(log, tail, host, position, sync=sync):
            return put_back
        if sync:
            log.sync()  # before a row is marked: whoever wrote the line may not have got so far
        waiting = LogEntry.objects.pending(host).exists()
        position, gained = _adopt(log.lines_backwards(), host, position, go_on=waiting)
    return gained + _write_pending(log, host, position, sync=sync)


def put_back(log: LogFile, *, host: str, after: int, sync: bool) -> int:
    """All lines of the record after that place, into a file that has lost them all."""
    total = 0
    while rows := _append_again(log, host, after, sync=sync):
        total, after = total + len(rows), rows[-1].sequence or 0
    return total


def seal_row(row: LogEntry, prev: str) -> chain.Sealed:
    """The row's line; for a row in the file, `row.prev` gives the very same bytes again."""
    return chain.seal(
        json.loads(row.entry),
        entry_id=row.public_id,
        salt=row.salt,
        commitment=row.commitment,
        prev=prev,
    )


def link(rows: Iterable[LogEntry], position: Position) -> list[Line]:
    """The lines that these rows become after `position`."""
    lines = []
    for row in rows:
        sealed = seal_row(row, position.hash)
        lines.append(Line(row, position.hash, sealed.line, position := _next(position, sealed)))
    return lines


def mark(lines: Iterable[Line]) -> None:
    """Mark the rows of these lines as written, all or none."""
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


def _put_back(
    log: LogFile, tail: dict[str, Any], host: str, position: Position, *, sync: bool
) -> int:
    """Lines that the file had after its present last one, if that is a line of the record."""
    known = LogEntry.objects.written(host).filter(public_id=chain.entry_id(tail)).first()
    if known is None or known.sequence == position.sequence:
        return 0
    return len(_append_again(log, host, known.sequence or 0, sync=sync))


def _append_again(log: LogFile, host: str, after: int, *, sync: bool) -> list[LogEntry]:
    rows = list(LogEntry.objects.written(host).filter(sequence__gt=after)[:BATCH])
    if rows:
        log.append("".join(seal_row(row, row.prev).line for row in rows).encode(), sync=sync)
        logger.warning("the log ended %d lines early; put back", len(rows))
    return rows


def _adopt(
    lines: Iterator[bytes], host: str, position: Position, *, go_on: bool = False
) -> tuple[Position, int]:
    """Mark the rows whose lines end the file; `go_on` from a sound line that no row knows."""
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
    """Without lines that differ from what their row gives: these are forged, the row is pending."""
    pairs = zip(due, parsed, strict=True)
    return [line for line, fields in pairs if line.at.hash == fields.get("hash")]


def _from_unknown(line: bytes, fields: dict[str, Any], position: Position) -> Position:
    sound = chain.verify(line.decode("ascii", "replace"), str(fields.get("prev"))) is None
    logger.warning(
        "the log ends in a line that the database does not know; the chain goes on from %s",
        "it" if sound else "the last one that it knows",
    )
    return Position(position.sequence, fields["hash"]) if sound else position


def _next(position: Position, sealed: chain.Sealed) -> Position:
    return Position(position.sequence + 1, sealed.hash)


def _last(host: str) -> Position:
    row = LogEntry.objects.written(host).values_list("sequence", "hash").last()
    return Position(row[0] or 0, row[1]) if row else Position(0, chain.GENESIS)
