"""Five dimensions as a picture: a five-pointed outline, the further out the better.

Pure: no I/O, no clock, no Django. Only where things go; how they look is the
template's and the stylesheet's. A dimension without a reading lies near the
centre, apart from RED, so that five of them can still be told from each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Final

from verdicts.core.presentation import ReadableDimension

WIDTH: Final = 400
HEIGHT: Final = 284
CENTRE: Final = (200.0, 146.0)
REACH: Final = {"NULL": 16.0, "RED": 42.0, "AMBER": 70.0, "GREEN": 98.0}
SIGN: Final = 22.0  # width of a sign
_LINE: Final = 18.0  # from a name to the label under it


@dataclass(frozen=True, slots=True)
class Mark:
    """One dimension: its sign's upper left corner, its axis' end, and where its name stands."""

    dimension: ReadableDimension
    x: float
    y: float
    end_x: float
    end_y: float
    name_x: float
    name_y: float
    label_y: float
    anchor: str


@dataclass(frozen=True, slots=True)
class Picture:
    marks: tuple[Mark, ...]
    outline: str
    rings: tuple[str, ...]
    width: int = WIDTH
    height: int = HEIGHT
    sign: float = SIGN
    centre: tuple[float, float] = CENTRE


def picture(dimensions: Sequence[ReadableDimension]) -> Picture | None:
    """Where everything goes; None where there is nothing to draw."""
    if not dimensions:
        return None
    angles = [-90 + 360 / len(dimensions) * place for place in range(len(dimensions))]
    ends = [_at(angle, REACH[one.label]) for angle, one in zip(angles, dimensions, strict=True)]
    rings = tuple(
        _polygon([_at(angle, REACH[label]) for angle in angles])
        for label in ("RED", "AMBER", "GREEN")
    )
    marks = tuple(
        _mark(one, angle, end) for one, angle, end in zip(dimensions, angles, ends, strict=True)
    )
    return Picture(marks, _polygon(ends), rings)


def _mark(dimension: ReadableDimension, angle: float, end: tuple[float, float]) -> Mark:
    edge_x, edge_y = _at(angle, REACH["GREEN"])
    name_x, name_y, anchor = _place_for_name(angle)
    return Mark(
        dimension,
        round(end[0] - SIGN / 2, 1),
        round(end[1] - SIGN / 2, 1),
        edge_x,
        edge_y,
        name_x,
        name_y,
        round(name_y + _LINE, 1),
        anchor,
    )


def _place_for_name(angle: float) -> tuple[float, float, str]:
    """Two lines of text, clear of the figure: above the top, beside the sides, else below."""
    x, y = _at(angle, REACH["GREEN"])
    across, down = cos(radians(angle)), sin(radians(angle))
    if down < -0.9:
        return x, round(y - 34, 1), "middle"
    if down > 0.5:
        return x, round(y + 30, 1), "middle"
    return (
        round(x + (18 if across > 0 else -18), 1),
        round(y - 2, 1),
        "start" if across > 0 else "end",
    )


def _at(angle: float, distance: float) -> tuple[float, float]:
    return (
        round(CENTRE[0] + distance * cos(radians(angle)), 1),
        round(CENTRE[1] + distance * sin(radians(angle)), 1),
    )


def _polygon(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
