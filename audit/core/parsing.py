"""Strict JSON in, a plain object out, or nothing (C12).

Pure: no I/O, no clock, no Django. Takes what a model wrote or what somebody
already parsed and returns the object the gate scores and the database stores.
None means malformed. The time taken is linear in the size of the input.

Policy
- Strict JSON with an object at the top; one Markdown code fence of three
  backticks around the whole of it is not part of it. Text after the object,
  NaN, numbers beyond a double and duplicate keys are malformed.
- NUL and lone surrogates anywhere, also in fields that nobody reads, are
  malformed: no database takes them.
- So is what no verdict can be: more than MAX_DEPTH levels (a verdict has three),
  MAX_VALUES values or MAX_LENGTH characters. The last two also hold off objects
  built by hand with shared or circular parts.
"""

import json
import sys
from collections.abc import Iterable
from math import isfinite
from typing import Any, Final

from audit.core.json_depth import MAX_DEPTH, is_too_deep

MAX_VALUES: Final = 1_000_000
MAX_LENGTH: Final = 16_000_000
MAX_INTEGER: Final = int(sys.float_info.max)

_FENCE: Final = "```"
_JSON_SPACE: Final = " \t\r\n"


def parse(output: object) -> dict[str, Any] | None:
    """The JSON object in `output` (text, or an object already parsed), else None."""
    if isinstance(output, str) and is_too_deep(output):
        return None
    return parse_any_depth(output)


def parse_any_depth(output: object) -> dict[str, Any] | None:
    """Like `parse`, for callers that bound the depth themselves, as `is_storable` does."""
    if isinstance(output, str):
        if len(output) > MAX_LENGTH:
            return None
        text = _without_fence(output.strip(_JSON_SPACE))
        try:
            output, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if end != len(text):
            return None
    # A subclass may hold other things than it shows.
    return output if type(output) is dict else None


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
    """Whether every value is one that JSON and both databases can hold."""
    texts: list[str] = []
    left = MAX_VALUES
    level: list[Any] = [root]
    for _ in range(MAX_DEPTH):  # level by level: recursion would have the stack's bound
        deeper: list[Any] = []
        for container in level:
            left -= len(container)
            if left < 0:
                return False
            values: Iterable[Any] = container
            if type(container) is dict:
                texts += container  # its keys
                values = container.values()
            for value in values:
                kind = type(value)
                if kind is str:
                    texts.append(value)
                elif kind is dict or kind is list:
                    deeper.append(value)
                elif not _is_plain(value):
                    return False
        if not deeper:
            return _fits(texts) and is_clean(texts)
        level = deeper
    return False


def is_clean(texts: list[str]) -> bool:
    """Whether no text holds a NUL or a lone surrogate."""
    joined = "".join(texts)
    if joined.isascii():
        return "\0" not in joined
    try:
        return b"\0" not in joined.encode()  # faster to be found in bytes than in wide text
    except UnicodeEncodeError:
        return False


def is_clean_without_escapes(text: str) -> bool:
    """Whether the strings in this JSON are clean without a look at them.

    Without a backslash there is no escape, so no NUL (JSON takes none as it is)
    and no surrogate but one that stands there as a character.
    """
    if "\\" in text:
        return False
    try:
        return text.isascii() or bool(text.encode("utf-16-le"))  # the quickest that refuses them
    except UnicodeEncodeError:
        return False


def _is_plain(value: object) -> bool:
    if type(value) is float:
        return isfinite(value)
    if type(value) is int:
        return -MAX_INTEGER <= value <= MAX_INTEGER
    return value is None or type(value) is bool


def _fits(texts: list[str]) -> bool:
    """Whether it is text at all (a key can be anything), and not too much of it."""
    return all(type(text) is str for text in texts) and sum(map(len, texts)) <= MAX_LENGTH


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    obj = dict(pairs)
    if len(obj) != len(pairs):
        raise ValueError("duplicate key")
    return obj


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
