"""Parses untrusted JSON with a fixed limit on nesting, MAX_DEPTH levels.

Pure: no I/O, no clock, no Django. Python's own limit is its stack: about 1,000
levels on 3.11, many more in later versions, fewer if the caller's stack is deep
already. A value that could just be parsed might then fail to serialise.

Text with at most MAX_DEPTH opening brackets costs two character counts. For other
text the time is linear in its length.
"""

import json
import re
from array import array
from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final

MAX_DEPTH: Final = 100

# An unterminated string extends to the end of the text; the parser rejects it.
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NOT_BRACKETS: Final = re.compile(r"[^][{}]+")
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # as signed bytes: 1 and -1


def loads(
    text: str,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Like json.loads, but text nested too deeply raises ValueError."""
    if is_too_deep(text):
        raise ValueError("nested too deeply")
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except RecursionError:  # the caller's stack was nearly exhausted
        raise ValueError("nested too deeply") from None


def is_too_deep(text: str) -> bool:
    """Whether JSON is nested deeper than MAX_DEPTH. Meaningless for text that is not JSON."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    brackets = _NOT_BRACKETS.sub("", _STRING.sub("", text))
    return max(accumulate(array("b", brackets.encode().translate(_STEPS))), default=0) > MAX_DEPTH
