"""The distribution of the gate's scores as a chart, with no column on both sides of the threshold.

Pure: no I/O, no clock, no Django.
"""

from collections import Counter
from dataclasses import replace
from math import floor
from typing import Final

from audit.core.calibration.summary import Calibration
from audit.core.tmm import OMEGA
from verdicts.core.charts.columns import LEFT, WIDTH, Columns, Tick, columns

# Two columns above the threshold, and as wide ones below it, down to zero.
_STEP: Final = (1 - OMEGA) / 2
_LOWEST: Final = floor(-OMEGA / _STEP)
_PLACES: Final = (None, *range(_LOWEST, 2))  # None: below zero, or no score
_SERIES: Final = ((True, "should pass", "one"), (False, "should not", "bad"))
_TICKS: Final = (0.2, 0.4, 0.6, 0.8)


def score_plot(found: Calibration) -> Columns:
    """One series, or with labels two, and a third for what nobody has judged."""
    counts = Counter[tuple[bool | None, int | None]]()
    for (should_pass, score), count in found.scores.items():
        counts[should_pass, place(score)] += count
    named: list[tuple[bool | None, str, str]] = [one for one in _SERIES if found.labelled]
    if found.labelled < found.checked:
        named.append((None, "not judged" if named else "checks", "grey" if named else "one"))
    series = {name: [counts[key, at] for at in _PLACES] for key, name, _ in named}
    across = {0: "< 0", len(_PLACES) - 1: "1"}
    across |= {_PLACES.index(place(score)): f"{score}" for score in _TICKS}
    chart = columns(
        "Scores of the gate",
        [_name(at) for at in _PLACES],
        series,
        [tone for *_, tone in named],
        across,
        heading="score from",
    )
    edge = LEFT + (WIDTH - LEFT) / len(_PLACES) * _PLACES.index(0)
    return replace(chart, line=Tick(round(edge, 2), f"Ω {OMEGA:.5f}"))


def place(score: float | None) -> int | None:
    """Zero is the column that begins at the threshold; a perfect score lies in the last."""
    if score is None or score < 0:
        return None
    return min(floor((score - OMEGA) / _STEP), 1)


def _name(at: int | None) -> str:
    return "below 0" if at is None else f"{max(0.0, OMEGA + at * _STEP):.3f}"
