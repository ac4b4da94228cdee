"""Searches oracle_log.jsonl and its rotated files, oldest first.

Takes no lock. Lines that cannot be parsed are skipped: reporting them is up to `audit_verify`.
"""

import gzip
import json
import logging
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from django.conf import settings

from audit.core.chain import parse
from audit.core.record import timestamp
from audit.log.file import rotated

logger = logging.getLogger("audit.log")

LoggedState = Literal["judged", "erased"]
_SESSION: Final = re.compile(rb'"session_id":"([^"\\]+)"')
_TIME: Final = re.compile(rb'"timestamp":"([^"\\]+)"')
_TICK_EVERY: Final = 1000  # lines


def _no_tick() -> None: ...


def find_original(session_id: str) -> dict[str, Any] | None:
    """The fields of the session's first approved original, or None (R19)."""
    needle = json.dumps(session_id).encode()  # a cheap filter: few lines have to be parsed
    for line in lines():
        if needle in line:
            fields = parse(line)
            if fields is not None and _is_original(fields, session_id):
                return fields
    return None


def logged_states(
    session_ids: Collection[str], *, tick: Callable[[], None] = _no_tick
) -> dict[str, LoggedState]:
    """Which of these sessions have an approved original, or were erased; one pass for all.

    `tick` is called regularly and may raise to abort.
    """
    wanted = {one.encode() for one in session_ids}
    found: dict[str, LoggedState] = {}
    for line in _ticking(tick) if wanted else ():
        named = _SESSION.search(line)
        if named and named[1] in wanted:
            _add(found, named[1].decode(), line)
    return found


def logged_states_since(
    since: datetime, *, tick: Callable[[], None] = _no_tick
) -> dict[str, LoggedState]:
    """All sessions with an approved original since then, and all that were ever erased."""
    begin = timestamp(since).encode()
    found: dict[str, LoggedState] = {}
    for line in _ticking(tick):
        # Filtered by bytes: parsing every line would take many times as long.
        erased = b'"action":"erase"' in line
        if not erased and b'"kind":"original"' not in line:
            continue
        named, at = _SESSION.search(line), _TIME.search(line)
        if named and (erased or (at and at[1] >= begin)):
            _add(found, named[1].decode(), line)
    return found


def _add(found: dict[str, LoggedState], session_id: str, line: bytes) -> None:
    fields = parse(line) or {}
    if fields.get("session_id") != session_id:
        return
    if fields.get("event") == "staff_action" and fields.get("action") == "erase":
        found[session_id] = "erased"
    elif _is_original(fields, session_id):
        found.setdefault(session_id, "judged")


def _ticking(tick: Callable[[], None]) -> Iterator[bytes]:
    for number, line in enumerate(lines()):
        if number % _TICK_EVERY == 0:
            tick()
        yield line


def lines() -> Iterator[bytes]:
    """Every line of this host's log across its files; the last may be torn."""
    path = settings.ORACLE_LOG_PATH
    for one in sorted([*rotated(path), path], key=_first_timestamp):
        yield from _lines(one)


def _is_original(fields: dict[str, Any], session_id: str) -> bool:
    return (
        fields.get("event") == "tmm_crosscheck"
        and fields.get("session_id") == session_id
        and fields.get("kind") == "original"
        and fields.get("approved") is True
    )


def _first_timestamp(path: Path) -> str:
    """Of the file's first line: names and modification times depend on the rotation tool."""
    fields = parse(next(_lines(path), b"")) or {}
    return str(fields.get("timestamp", ""))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return  # not created yet, or just rotated
    except (EOFError, zlib.error, gzip.BadGzipFile):
        logger.warning("%s is damaged: only read up to the damage", path.name)
