"""Reading oracle_log.jsonl back, with what rotation put aside, oldest first.

Takes no lock and trusts no line to be whole: what cannot be read is passed
over, since `audit_verify` is what names it.
"""

import gzip
import json
import logging
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from audit.core.chain import parse
from audit.log.file import rotated

logger = logging.getLogger("audit.log")

Past = Literal["judged", "erased"]
_SESSION: Final = re.compile(rb'"session_id":"([^"\\]+)"')
_TIME: Final = re.compile(rb'"timestamp":"([^"\\]+)"')
_OFTEN: Final = 1000  # lines


def _no_tick() -> None: ...


def find_original(path: Path, session_id: str) -> dict[str, Any] | None:
    """The session's first approved original, as its line says it (R19)."""
    needle = json.dumps(session_id).encode()  # as it stands in a line, so few lines are parsed
    for line in lines(path):
        if needle in line:
            fields = parse(line)
            if fields is not None and _is_original(fields, session_id):
                return fields
    return None


def pasts(
    path: Path, session_ids: Collection[str], *, tick: Callable[[], None] = _no_tick
) -> dict[str, Past]:
    """Which of these sessions were approved once, or erased since; one walk for all of them.

    `tick` is called now and then, and may raise to end it.
    """
    wanted = {one.encode() for one in session_ids}
    found: dict[str, Past] = {}
    for line in _ticking(path, tick) if wanted else ():
        named = _SESSION.search(line)
        if named and named[1] in wanted:
            _add(found, named[1].decode(), line)
    return found


def pasts_since(path: Path, since: str, *, tick: Callable[[], None] = _no_tick) -> dict[str, Past]:
    """Every session that was approved since then, and every one that was ever erased."""
    begin = since.encode()
    found: dict[str, Past] = {}
    for line in _ticking(path, tick):
        # By a look at the bytes: to parse every line would take many times as long.
        erased = b'"action":"erase"' in line
        if not erased and b'"kind":"original"' not in line:
            continue
        named, at = _SESSION.search(line), _TIME.search(line)
        if named and (erased or (at and at[1] >= begin)):
            _add(found, named[1].decode(), line)
    return found


def _add(found: dict[str, Past], session_id: str, line: bytes) -> None:
    fields = parse(line) or {}
    if fields.get("session_id") != session_id:
        return
    if fields.get("event") == "staff_action" and fields.get("action") == "erase":
        found[session_id] = "erased"
    elif _is_original(fields, session_id):
        found.setdefault(session_id, "judged")


def _ticking(path: Path, tick: Callable[[], None]) -> Iterator[bytes]:
    for number, line in enumerate(lines(path)):
        if number % _OFTEN == 0:
            tick()
        yield line


def lines(path: Path) -> Iterator[bytes]:
    """Every line of the log, across its files; the last may be torn."""
    for one in sorted([*rotated(path), path], key=_begins):
        yield from _lines(one)


def _is_original(fields: dict[str, Any], session_id: str) -> bool:
    return (
        fields.get("event") == "tmm_crosscheck"
        and fields.get("session_id") == session_id
        and fields.get("kind") == "original"
        and fields.get("approved") is True
    )


def _begins(path: Path) -> str:
    """When the file's first line was made: names and dates differ between rotators."""
    fields = parse(next(_lines(path), b"")) or {}
    return str(fields.get("timestamp", ""))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return  # not there yet, or rotated away just now
    except (EOFError, zlib.error, gzip.BadGzipFile):
        logger.warning("%s is damaged: read up to there", path.name)
