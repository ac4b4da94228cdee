"""Text that a spreadsheet shows and does not run.

Pure: no I/O, no clock, no Django.
"""

from typing import Final

# What a spreadsheet takes for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def defused(text: str) -> str:
    """The text, with a quote before what would be taken for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
