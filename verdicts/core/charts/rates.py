"""A series of rates, each with its 95% confidence interval, as geometry for an SVG.

Pure: no I/O, no clock, no Django. Rates are in the order of time but evenly spaced, because
several measured on one day would overlap.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from audit.core.wilson import Interval, wilson
from verdicts.core.charts.columns import BASELINE, HEIGHT, LEFT, MAX_DAY_TICKS, TOP, WIDTH, Tick
from verdicts.core.formatting import format_interval

_AXIS_ENDS: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_TONES: Final = ("one", "warn", "good", "two")
_RIGHT: Final = 44  # room for the threshold's label and the last day's tick


class Rate(NamedTuple):
    """`hits` of `total` on that day; `source` is what was measured, such as a model version."""

    day: str
    source: str
    hits: int
    total: int

    @property
    def share(self) -> float:
        return self.hits / self.total

    @property
    def interval(self) -> Interval:
        return wilson(self.hits, self.total)

    @property
    def interval_text(self) -> str:
        return format_interval(*self.interval)

    def __str__(self) -> str:
        return f"{self.share:.1%} ({self.interval_text})"


class Mark(NamedTuple):
    x: float
    y: float
    low: float
    high: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class Rates:
    alt_text: str
    marks: list[Mark]
    changes: list[float]  # x positions where the source changes
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    threshold: Tick
    legend: list[tuple[str, str]]  # source, tone
    header: list[str]
    rows: list[list[str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    top: int = TOP
    baseline: int = BASELINE


def rates_chart(title: str, rates: list[Rate], *, threshold: float) -> Rates:
    """At least one rate, oldest first. A rate above `threshold` is too high."""
    highest = max(2 * threshold, *(rate.interval.high for rate in rates))
    end = next(one for one in _AXIS_ENDS if one >= highest)
    step = (WIDTH - LEFT - _RIGHT) / len(rates)
    sources = list(dict.fromkeys(rate.source for rate in rates))
    tones = {source: _TONES[at % len(_TONES)] for at, source in enumerate(sources)}
    every = -(-len(rates) // MAX_DAY_TICKS)
    return Rates(
        alt_text=f"{title}: {len(rates)} probes, the latest {rates[-1]}.",
        marks=[_mark(rate, LEFT + (at + 0.5) * step, end, tones) for at, rate in enumerate(rates)],
        changes=[
            round(LEFT + at * step, 2)
            for at in range(1, len(rates))
            if rates[at].source != rates[at - 1].source
        ],
        x_ticks=[
            Tick(round(LEFT + (at + 0.5) * step, 2), rates[at].day)
            for at in range(len(rates) - 1, -1, -every)
        ],
        y_ticks=[Tick(_y(share * end, end), f"{share * end:.0%}") for share in (0, 0.5, 1)],
        threshold=Tick(_y(threshold, end), f"{threshold:.0%}"),
        legend=list(tones.items()),
        header=["day", "differed", "rate", "95% interval", "answered as"],
        rows=[_row(rate) for rate in reversed(rates)],
    )


def _mark(rate: Rate, x: float, end: float, tones: dict[str, str]) -> Mark:
    low, high = rate.interval
    return Mark(
        round(x, 2),
        _y(rate.share, end),
        _y(low, end),
        _y(high, end),
        tones[rate.source],
        f"{rate.day}: {rate.hits} of {rate.total} differed, {rate}, {rate.source}",
    )


def _row(rate: Rate) -> list[str]:
    return [
        rate.day,
        f"{rate.hits} of {rate.total}",
        f"{rate.share:.1%}",
        rate.interval_text,
        rate.source,
    ]


def _y(share: float, end: float) -> float:
    return round(BASELINE - share / end * (BASELINE - TOP), 2)
