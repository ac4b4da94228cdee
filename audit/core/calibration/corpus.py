"""Outputs to calibrate the gate by, one JSON object a line.

Pure: no I/O, no clock, no Django. `tier`, `output` (text or object) and, where
somebody has judged, `should_pass`; anything else in a line is left alone.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from audit.core.json_depth import loads
from audit.core.vocabulary import TIERS


class CorpusError(ValueError):
    """A line that does not fit; the message names it."""


class Entry(NamedTuple):
    tier: str
    output: Any
    should_pass: bool | None = None  # None: nobody has said


def read_entries(lines: Iterable[str]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _read(number, line)


def _read(number: int, line: str) -> Entry:
    try:
        given = loads(line)
        entry = Entry(given["tier"], given["output"], given.get("should_pass"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError(f'Line {number} needs an object with "tier" and "output"') from None
    if entry.tier not in TIERS or entry.should_pass not in (True, False, None):
        wanted = f"a tier of {', '.join(TIERS)}, and true or false for should_pass"
        raise CorpusError(f"Line {number} needs {wanted}")
    return entry


def to_line(entry: Entry, *, damage: str) -> str:
    """In ASCII: a lone surrogate can be written no other way."""
    return json.dumps({**entry._asdict(), "damage": damage}) + "\n"
