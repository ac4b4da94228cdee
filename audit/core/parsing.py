"""Strict JSON in, a plain object out, or nothing (C12).

Pure: no I/O, no clock, no Django. Takes what a model wrote or what somebody
already parsed and returns the object the gate scores and the database stores.
None means malformed. Nothing here raises, whatever comes in, and the time
taken is linear in the size of the input.

Policy
- Strict JSON with an object at the top; one Markdown code fence around the
  whole of it is not part of it. Text after the object, NaN, numbers too large
  for a double and duplicate keys are malformed.
- NUL and lone surrogates anywhere, also in fields that nobody reads, are
  malformed: no database takes them.
- So are more than MAX_DEPTH levels: a verdict has three, and without a bound
  of our own the answer would depend on how deep the caller's stack already is.
"""

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, Final

MAX_DEPTH: Final = 100
# Values on one level. Only an object built by hand, with shared or circular
# references, gets there: JSON of that many values is far beyond any model.
MAX_WIDTH: Final = 1_000_000

_PLAIN: Final = frozenset({int, bool, type(None)})
_FENCE: Final = "```"
_JSON_SPACE: Final = " \t\r\n"


def parse(output: object) -> dict[str, Any] | None:
    """The JSON object in `output` (text, or an object already parsed), else None."""
    if isinstance(output, str):
        text = _without_fence(output.strip(_JSON_SPACE))
        try:
            output, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if end != len(text):
            return None
    return output if isinstance(output, dict) else None


def _without_fence(text: str) -> str:
    if not text.startswith(_FENCE):
        return text
    first_line, _, rest = text.partition("\n")
    body, _, last_line = rest.rpartition("\n")
    info = first_line[len(_FENCE) :].strip()
    if last_line.strip(_JSON_SPACE) != _FENCE or not (info == "" or info.isalnum()):
        return text
    return body.strip(_JSON_SPACE)


def is_storable(root: dict[str, Any]) -> bool:
    """Whether every value is one that JSON and both databases can hold.

    Level by level instead of recursively, and all strings are tested in one
    go: this runs on every verdict, and it is most of the gate's time.
    """
    texts: list[str] = []
    level: list[Any] = [root]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for container in level:
            if type(container) is dict:
                texts += container  # its keys
                values: Iterable[Any] = container.values()
            else:
                values = container
            for value in values:
                kind = type(value)
                if kind is str:
                    texts.append(value)
                elif kind is dict or kind is list:
                    deeper.append(value)
                elif not (kind in _PLAIN or (kind is float and isfinite(value))):
                    return False
        if not deeper:
            return is_clean(texts)
        if len(deeper) > MAX_WIDTH:
            return False
        level = deeper
    return False


def is_clean(texts: list[str]) -> bool:
    try:
        joined = "".join(texts)
        return "\0" not in joined and (joined.isascii() or bool(joined.encode()))
    except (TypeError, UnicodeEncodeError):  # a key that is no string; a lone surrogate
        return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    obj = dict(pairs)
    if len(obj) != len(pairs):
        raise ValueError("duplicate key")
    return obj


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
