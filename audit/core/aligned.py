"""A table for a terminal: names to the left, figures to the right, the last column as it is.

Pure: no I/O, no clock, no Django.
"""

from collections.abc import Collection, Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], *, ruled: Collection[int]) -> Iterator[str]:
    """One line a row, with a rule above each row in `ruled`; the widest cell makes the column."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    for place, (first, *middle, last) in enumerate(rows):
        if place in ruled:
            yield rule
        figures = (cell.rjust(width) for cell, width in zip(middle, widths[1:-1], strict=True))
        yield "  ".join([first.ljust(widths[0]), *figures, last]).rstrip()
