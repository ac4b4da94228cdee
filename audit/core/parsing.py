"""Parses a model's output strictly into a JSON object, or not at all (C12).

Pure: no I/O, no clock, no Django. Takes the text, or an object already parsed,
and returns the object that the gate scores and the database stores; None means
malformed. The time is linear in the size of the input.

Policy
- Strict JSON with an object at the top level, optionally inside one Markdown code
  fence of three backticks. Text after the object, NaN, numbers beyond a double and
  duplicate keys are malformed.
- NUL and lone surrogates are malformed everywhere, even in fields that are not
  read, because databases reject them.
- So is anything larger than a verdict can be: more than MAX_DEPTH levels (a verdict
  has three), MAX_VALUES values or MAX_LENGTH characters. The last two also bound
  Python objects with shared or circular parts.
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
    """The JSON object in `output` (text, or an object already parsed); None if malformed."""
    if isinstance(output, str) and is_too_deep(output):
        return None
    return parse_any_depth(output)


def parse_any_depth(output: object) -> dict[str, Any] | None:
    """Like `parse`, without the limit on depth; callers check `is_storable` where needed."""
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
    # Exactly dict: a subclass may behave differently.
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
    values_left = MAX_VALUES
    level: list[Any] = [root]
    for _ in range(MAX_DEPTH):  # breadth first: recursion would be limited by the stack
        values_left -= sum(map(len, level))
        if values_left < 0:
            return False
        containers: list[Any] = []
        for container in level:
            if not _collect(container, texts, containers):
                return False
        if not containers:
            return _fits(texts) and is_clean(texts)
        level = containers
    return False


def _collect(container: Any, texts: list[str], containers: list[Any]) -> bool:
    """Add the texts (keys included) and containers inside; False if a value is not storable."""
    values: Iterable[Any] = container
    if type(container) is dict:
        texts += container
        values = container.values()
    for value in values:
        kind = type(value)
        if kind is str:
            texts.append(value)
        elif kind is dict or kind is list:
            containers.append(value)
        elif not _is_storable_scalar(value):
            return False
    return True


def is_clean(texts: list[str]) -> bool:
    """Whether no text contains a NUL or a lone surrogate."""
    joined = "".join(texts)
    if joined.isascii():
        return "\0" not in joined
    try:
        return b"\0" not in joined.encode()  # searching bytes is faster than searching str
    except UnicodeEncodeError:
        return False


def is_clean_without_escapes(text: str) -> bool:
    """Whether all strings of this JSON are clean, decided on the raw text alone.

    Without a backslash there are no escapes, so no NUL (JSON allows it only escaped)
    and no lone surrogate unless as a character. False may also mean undecided.
    """
    if "\\" in text:
        return False
    try:
        return text.isascii() or bool(text.encode("utf-16-le"))  # the fastest such codec
    except UnicodeEncodeError:
        return False


def _is_storable_scalar(value: object) -> bool:
    if type(value) is float:
        return isfinite(value)
    if type(value) is int:
        return -MAX_INTEGER <= value <= MAX_INTEGER
    return value is None or type(value) is bool


def _fits(texts: list[str]) -> bool:
    """Whether all are text (an object's key may not be), within MAX_LENGTH in total."""
    return all(type(text) is str for text in texts) and sum(map(len, texts)) <= MAX_LENGTH


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    obj = dict(pairs)
    if len(obj) != len(pairs):
        raise ValueError("duplicate key")
    return obj


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
