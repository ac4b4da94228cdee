"""Wilson score interval (95%) for a rate: valid for small samples and rates near zero.

Pure: no I/O, no clock, no Django.
"""

from math import sqrt
from typing import Final, NamedTuple

Z: Final = 1.959963984540054  # 95%, two-sided


class Interval(NamedTuple):
    low: float
    high: float


def wilson(hits: int, total: int) -> Interval:
    """The confidence interval for `hits` of `total`; (0, 1) without observations."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is not a rate")
    if total == 0:
        return Interval(0.0, 1.0)
    rate, square = hits / total, Z * Z / total
    middle = rate + square / 2
    spread = Z * sqrt(rate * (1 - rate) / total + square / (4 * total))
    return Interval(
        0.0 if hits == 0 else (middle - spread) / (1 + square),
        1.0 if hits == total else (middle + spread) / (1 + square),
    )
