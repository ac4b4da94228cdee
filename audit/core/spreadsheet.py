"""Prevents CSV injection: text that a spreadsheet would run as a formula.

Pure: no I/O, no clock, no Django.

In many locales spreadsheets split at a semicolon, tab or bar instead of a comma, so
a cell of theirs can begin inside ours. The text after each of these, and after each
line break, is therefore checked like the beginning.
"""

import re
import unicodedata
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@")
_SEPARATOR: Final = re.compile(r"([;|\t\r\n])")


def escape_formulas(text: str) -> str:
    """The text with an apostrophe before everything that a spreadsheet could run."""
    whole = "".join(f"'{part}" if _is_formula(part) else part for part in _SEPARATOR.split(text))
    begins = _is_formula(text) or text.startswith(("\t", "\r"))
    return f"'{whole}" if begins and not whole.startswith("'") else whole


def _is_formula(part: str) -> bool:
    """Also after blanks, quotes and control characters, and with full-width characters."""
    visible = "".join(one for one in unicodedata.normalize("NFKC", part) if one.isprintable())
    return visible.lstrip(' "').startswith(_FORMULA)
