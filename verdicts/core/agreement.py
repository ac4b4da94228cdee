"""How far repeated answers to the same request agree with the first.

Pure: no I/O, no clock, no Django. The first answer plays the original and the
others its regenerations, counted as R14 does.
"""

from collections.abc import Sequence
from typing import NamedTuple

from audit.core.wilson import Interval, wilson


class Reply(NamedTuple):
    """`dimensions` are the breakdown's labels; None if the tier has no breakdown."""

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
        """95% confidence interval of the share of equal labels."""
        return wilson(self.same_label, self.compared)


def agreement(replies: Sequence[Reply]) -> Agreement:
    """`replies` must not be empty."""
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
