"""How far several answers to the same call agree with the first of them.

Pure: no I/O, no clock, no Django. The first answer stands for the original and
the others for its regenerations, as R14 counts them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from audit.core.wilson import Interval, wilson


class Reply(NamedTuple):
    """`dimensions` are the breakdown's labels; None: the tier has none."""

    label: str
    dimensions: tuple[str, ...] | None
    text: str


class Agreement(NamedTuple):
    compared: int
    same_label: int
    same_dimensions: int | None
    same_text: int
    distinct_texts: int

    @property
    def interval(self) -> Interval:
        """Where the true share of equal labels lies, 95%."""
        return wilson(self.same_label, self.compared)


def agreement(replies: Sequence[Reply]) -> Agreement:
    """Of at least one reply."""
    first, *others = replies
    return Agreement(
        compared=len(others),
        same_label=sum(one.label == first.label for one in others),
        same_dimensions=None
        if first.dimensions is None
        else sum(one.dimensions == first.dimensions for one in others),
        same_text=sum(one.text == first.text for one in others),
        distinct_texts=len({one.text for one in replies}),
    )
