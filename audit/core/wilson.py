"""Wilson's 95% interval for a rate: honest also for few observations and rates near zero.

Pure: no I/O, no clock, no Django.
"""

from math import sqrt
from typing import Final, NamedTuple

Z: Final = 1.959963984540054  # 95%, two-sided


class Interval(NamedTuple):
    low: float
    high: float


def wilson(hits: int, total: int) -> Interval:
    """Where the true rate lies, as far as `hits` of `total` can tell; (0, 1) for nothing seen."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no rate")
    if total == 0:
        return Interval(0.0, 1.0)
    rate, square = hits / total, Z * Z / total
    middle = rate + square / 2
    spread = Z * sqrt(rate * (1 - rate) / total + square / (4 * total))
    return Interval(
        0.0 if hits == 0 else (middle - spread) / (1 + square),
        1.0 if hits == total else (middle + spread) / (1 + square),
    )
