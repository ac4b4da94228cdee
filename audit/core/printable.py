"""What a person typed, as every database and terminal takes it.

Pure: no I/O, no clock, no Django.
"""


def printable(text: str, most: int) -> str:
    """Without what cannot be printed, at most so long. Line breaks stay."""
    return "".join(one for one in text if one.isprintable() or one in "\n\t").strip()[:most]
