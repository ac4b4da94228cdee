"""JSON from outside, nested at most MAX_DEPTH levels deep on every version of Python.

Pure: no I/O, no clock, no Django. Python's own limit is its stack's: about 1,000
levels on 3.11, many times that later, fewer where the caller is deep in the stack
already. What one call could just read, the next one may then fail to write.

Text with no more than MAX_DEPTH opening brackets costs two counts of a character.
The time for other text is linear in its length.
"""

import json
import re
from array import array
from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final

MAX_DEPTH: Final = 100

# A string that never ends takes the rest: the parser refuses it there.
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NOT_BRACKETS: Final = re.compile(r"[^][{}]+")
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # as signed bytes: 1 and -1


def loads(
    text: str,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Like json.loads; text that is nested too deeply raises ValueError as well."""
    if is_too_deep(text):
        raise ValueError("nested too deeply")
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except RecursionError:  # the caller's stack was nearly full
        raise ValueError("nested too deeply") from None


def is_too_deep(text: str) -> bool:
    """Whether JSON is nested deeper than MAX_DEPTH. Of other text it says nothing of use."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    brackets = _NOT_BRACKETS.sub("", _STRING.sub("", text))
    return max(accumulate(array("b", brackets.encode().translate(_STEPS))), default=0) > MAX_DEPTH
