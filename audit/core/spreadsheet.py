"""Text that no spreadsheet runs.

Pure: no I/O, no clock, no Django.
"""

import unicodedata
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@")


def defused(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet would take it for a formula."""
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    """Also behind blanks and control characters, and in full-width signs."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", text) if one.isprintable())
    return seen.lstrip().startswith(_FORMULA) or text.startswith(("\t", "\r"))
