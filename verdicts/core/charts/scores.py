"""The distribution of the gate's scores as a chart; the threshold is the edge of a column.

Pure: no I/O, no clock, no Django.
"""

from collections import Counter
from dataclasses import replace
from math import floor
from typing import Final

from audit.core.calibration.summary import Calibration
from audit.core.tmm import OMEGA
from verdicts.core.charts.columns import LEFT, WIDTH, ColumnChart, Tick, column_chart

# Two columns above the threshold, and columns of the same width below it, down to zero.
_STEP: Final = (1 - OMEGA) / 2
_LOWEST: Final = floor(-OMEGA / _STEP)
_BUCKETS: Final = (None, *range(_LOWEST, 2))  # None: below zero, or no score
_SERIES: Final = ((True, "should pass", "one"), (False, "should not", "bad"))
_TICKS: Final = (0.2, 0.4, 0.6, 0.8)


def score_chart(found: Calibration) -> ColumnChart:
    """One series of all checks; with reviews, one per answer and one for the unreviewed."""
    counts = Counter[tuple[bool | None, int | None]]()
    for (should_pass, score), count in found.scores.items():
        counts[should_pass, bucket(score)] += count
    named: list[tuple[bool | None, str, str]] = [one for one in _SERIES if found.reviewed]
    if found.reviewed < found.checked:
        named.append((None, "not judged" if named else "checks", "grey" if named else "one"))
    series = {name: [counts[key, at] for at in _BUCKETS] for key, name, _ in named}
    x_ticks = {0: "< 0", len(_BUCKETS) - 1: "1"}
    x_ticks |= {_BUCKETS.index(bucket(score)): f"{score}" for score in _TICKS}
    chart = column_chart(
        "Scores of the gate",
        [_name(at) for at in _BUCKETS],
        series,
        [tone for *_, tone in named],
        x_ticks,
        heading="score from",
    )
    edge = LEFT + (WIDTH - LEFT) / len(_BUCKETS) * _BUCKETS.index(0)
    return replace(chart, threshold=Tick(round(edge, 2), f"Ω {OMEGA:.5f}"))


def bucket(score: float | None) -> int | None:
    """The score's column: 0 begins at the threshold, 1 is the last and includes a perfect score."""
    if score is None or score < 0:
        return None
    return min(floor((score - OMEGA) / _STEP), 1)


def _name(at: int | None) -> str:
    return "below 0" if at is None else f"{max(0.0, OMEGA + at * _STEP):.3f}"
