"""Text that no spreadsheet runs.

Pure: no I/O, no clock, no Django.

A spreadsheet that splits at another sign than the comma, as many do outside of
English, begins a new cell inside of ours: behind a semicolon, a tab, a bar or a
line's end. So whatever stands there is looked at like the beginning.
"""

import re
import unicodedata
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@")
_SEPARATOR: Final = re.compile(r"([;|\t\r\n])")


def escape_formulas(text: str) -> str:
    """The text, with an apostrophe before whatever a spreadsheet would take for a formula."""
    whole = "".join(f"'{part}" if _is_formula(part) else part for part in _SEPARATOR.split(text))
    begins = _is_formula(text) or text.startswith(("\t", "\r"))
    return f"'{whole}" if begins and not whole.startswith("'") else whole


def _is_formula(part: str) -> bool:
    """Also behind blanks, quotes and control characters, and in full-width signs."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", part) if one.isprintable())
    return seen.lstrip(' "').startswith(_FORMULA)
