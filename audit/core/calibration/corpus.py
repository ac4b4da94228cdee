"""The corpus to calibrate the gate with: JSON Lines of model outputs.

Pure: no I/O, no clock, no Django. Each line has `tier`, `output` (text or object)
and, if a person has reviewed it, `should_pass`; other keys are ignored.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from audit.core.json_depth import loads
from audit.core.vocabulary import TIERS


class CorpusError(ValueError):
    """An invalid line; the message has its number."""


class Entry(NamedTuple):
    tier: str
    output: Any
    should_pass: bool | None = None  # None: not reviewed


def read_entries(lines: Iterable[str]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _read(number, line)


def _read(number: int, line: str) -> Entry:
    try:
        fields = loads(line)
        entry = Entry(fields["tier"], fields["output"], fields.get("should_pass"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError(f'Line {number} needs an object with "tier" and "output"') from None
    if entry.tier not in TIERS or entry.should_pass not in (True, False, None):
        expected = f"a tier of {', '.join(TIERS)}, and true or false for should_pass"
        raise CorpusError(f"Line {number} needs {expected}")
    return entry


def to_line(entry: Entry, *, mutation: str) -> str:
    """In ASCII, because a lone surrogate has no UTF-8 encoding."""
    return json.dumps({**entry._asdict(), "mutation": mutation}) + "\n"
