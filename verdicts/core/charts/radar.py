"""The five dimensions as a radar chart: the better the label, the further out.

Pure: no I/O, no clock, no Django. Computes positions only; the template and the style sheet
decide how they look. NULL lies near the centre, but off it and apart from RED, so that five NULL
symbols do not overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Final

from verdicts.core.presentation import PresentedDimension

WIDTH: Final = 400
HEIGHT: Final = 284
CENTRE: Final = (200.0, 146.0)
RADIUS: Final = {"NULL": 16.0, "RED": 42.0, "AMBER": 70.0, "GREEN": 98.0}
SYMBOL_SIZE: Final = 22.0
_LINE_HEIGHT: Final = 18.0  # between the dimension's name and its label


@dataclass(frozen=True, slots=True)
class Mark:
    """One dimension: the symbol's upper left corner, the end of its axis, and its name's place."""

    dimension: PresentedDimension
    x: float
    y: float
    end_x: float
    end_y: float
    name_x: float
    name_y: float
    label_y: float
    anchor: str


@dataclass(frozen=True, slots=True)
class RadarChart:
    marks: tuple[Mark, ...]
    outline: str
    rings: tuple[str, ...]
    width: int = WIDTH
    height: int = HEIGHT
    symbol_size: float = SYMBOL_SIZE
    centre: tuple[float, float] = CENTRE


def radar_chart(dimensions: Sequence[PresentedDimension]) -> RadarChart | None:
    """The chart; None without dimensions."""
    if not dimensions:
        return None
    angles = [-90 + 360 / len(dimensions) * number for number in range(len(dimensions))]
    points = [_at(angle, RADIUS[one.label]) for angle, one in zip(angles, dimensions, strict=True)]
    rings = tuple(
        _polygon([_at(angle, RADIUS[label]) for angle in angles])
        for label in ("RED", "AMBER", "GREEN")
    )
    marks = tuple(
        _mark(one, angle, point)
        for one, angle, point in zip(dimensions, angles, points, strict=True)
    )
    return RadarChart(marks, _polygon(points), rings)


def _mark(dimension: PresentedDimension, angle: float, point: tuple[float, float]) -> Mark:
    end_x, end_y = _at(angle, RADIUS["GREEN"])
    name_x, name_y, anchor = _name_position(angle)
    return Mark(
        dimension,
        round(point[0] - SYMBOL_SIZE / 2, 1),
        round(point[1] - SYMBOL_SIZE / 2, 1),
        end_x,
        end_y,
        name_x,
        name_y,
        round(name_y + _LINE_HEIGHT, 1),
        anchor,
    )


def _name_position(angle: float) -> tuple[float, float, str]:
    """Where two lines of text do not overlap the outline: above, below or beside the axis' end."""
    x, y = _at(angle, RADIUS["GREEN"])
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
