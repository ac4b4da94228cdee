"""A rejected output as lines for the reviewer, each annotated with the gate's findings.

Pure: no I/O, no clock, no Django. Lists everything in the output and adds a line
for each missing field. Control characters, invisible characters and lone
surrogates are escaped.
"""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from audit.core.json_depth import is_too_deep

_MAX_DEPTH: Final = 8  # deeper values are shown as JSON; a verdict has three levels
_MAX_LINES: Final = 2000
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


class Note(NamedTuple):
    """One finding against the output."""

    term: str
    what: str
    where: str
    amount: float


class Line(NamedTuple):
    depth: int
    key: str
    text: str
    notes: tuple[Note, ...] = ()
    missing: bool = False


class JsonError(NamedTuple):
    """Why an output is not a verdict's JSON, and the text before, at and after the error."""

    why: str
    before: str
    at: str
    after: str


def notes_from(contributions: Iterable[Mapping[str, Any]]) -> list[Note]:
    """The findings against the output; evidence for it (V_t) is left out."""
    return [
        Note(one["term"], one["what"], one["where"], one["amount"])
        for one in contributions
        if one["term"] != "V_t"
    ]


def annotate(payload: dict[str, Any], notes: list[Note]) -> list[Line]:
    """The payload's fields as lines, at most _MAX_LINES, each with its notes."""
    lines: list[Line] = []
    for line in _object_lines(payload, notes, "", 0):
        lines.append(line)
        if len(lines) == _MAX_LINES:
            break
    return lines


def find_json_error(output: str) -> JsonError:
    """The error in an output that the parser has rejected."""
    if is_too_deep(output):
        return JsonError("nested too deeply", "", "", escape_invisible(output))
    try:
        value = json.loads(output)
    except json.JSONDecodeError as error:
        position = min(error.pos, len(output))
        before, at, after = (
            output[:position],
            output[position : position + 1],
            output[position + 1 :],
        )
        return JsonError(
            error.msg,
            escape_invisible(before),
            escape_invisible(at) or "(end)",
            escape_invisible(after),
        )
    if not isinstance(value, dict):
        return JsonError("JSON, but not an object", "", "", escape_invisible(output))
    return JsonError(
        "JSON with duplicate keys or unstorable characters",
        "",
        "",
        escape_invisible(output),
    )


def escape_invisible(text: str) -> str:
    """The text with invisible characters as escapes."""
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if char not in "\n\t" and unicodedata.category(char) in _HIDDEN
        else char
        for char in text
    )


def _object_lines(obj: dict[str, Any], notes: list[Note], path: str, depth: int) -> Iterator[Line]:
    inside = f"{path}." if path else ""
    for key, value in obj.items():
        yield from _value_lines(key, value, notes, f"{inside}{key}", depth)
    absent = {
        note.where.removeprefix(inside).partition(".")[0]: None
        for note in notes
        if note.where.startswith(inside) and note.where != "output"
    }
    for key in absent:
        if key not in obj:
            yield Line(depth, key, "", _at_or_under(notes, f"{inside}{key}"), missing=True)


def _value_lines(key: str, value: Any, notes: list[Note], path: str, depth: int) -> Iterator[Line]:
    name = escape_invisible(key)
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        yield Line(depth, name, "", tuple(note for note in notes if note.where == path))
        yield from _object_lines(value, notes, path, depth + 1)
    elif isinstance(value, list) and value and depth < _MAX_DEPTH:
        yield Line(depth, name, "", _at_or_under(notes, path))
        for number, item in enumerate(value, start=1):
            yield from _value_lines(f"{number}.", item, [], "", depth + 1)
    else:
        shown = value if isinstance(value, str) and value else json.dumps(value)
        yield Line(depth, name, escape_invisible(shown), _at_or_under(notes, path))


def _at_or_under(notes: list[Note], path: str) -> tuple[Note, ...]:
    return tuple(n for n in notes if n.where == path or n.where.startswith(f"{path}."))
