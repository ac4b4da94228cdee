"""Text typed by a person, made safe for every database and terminal.

Pure: no I/O, no clock, no Django.
"""


def printable(text: str, max_length: int) -> str:
    """The text, stripped, without unprintable characters except line breaks and tabs, truncated."""
    kept = (char for char in text if char.isprintable() or char in "\n\t")
    return "".join(kept).strip()[:max_length]
