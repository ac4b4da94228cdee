"""Rates one after the other, each with its 95% interval, as plain geometry.

Pure: no I/O, no clock, no Django. In the order of time, and evenly spaced:
what was measured on one day would else be one blot.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from audit.core.wilson import wilson
from verdicts.core.charts.columns import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Tick

_ENDS: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the axis
_TONES: Final = ("one", "warn", "good", "two")
_FLOOR: Final = HEIGHT - BOTTOM
_RIGHT: Final = 44  # where the line is named, and the last day's end fits


class Rate(NamedTuple):
    """`hits` of `total` on that day, by whatever `source` names."""

    day: str
    source: str
    hits: int
    total: int


class Mark(NamedTuple):
    x: float
    y: float
    low: float
    high: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class Rates:
    alternative: str
    marks: list[Mark]
    changes: list[float]  # where another source begins
    across: list[Tick]
    upwards: list[Tick]
    line: Tick
    legend: list[tuple[str, str]]  # source, tone
    header: list[str]
    rows: list[list[str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    top: int = TOP
    floor: int = _FLOOR


def rates_chart(title: str, rates: list[Rate], *, line: float) -> Rates:
    """At least one rate, the oldest first; `line` is the height at which it becomes too much."""
    end = next(one for one in _ENDS if one >= max(2 * line, *(_high(rate) for rate in rates)))
    step = (WIDTH - LEFT - _RIGHT) / len(rates)
    sources = list(dict.fromkeys(rate.source for rate in rates))
    tones = {source: _TONES[at % len(_TONES)] for at, source in enumerate(sources)}
    every = -(-len(rates) // 6)
    return Rates(
        alternative=f"{title}: {len(rates)} probes, the latest {told(rates[-1])}.",
        marks=[_mark(rate, LEFT + (at + 0.5) * step, end, tones) for at, rate in enumerate(rates)],
        changes=[
            round(LEFT + at * step, 2)
            for at in range(1, len(rates))
            if rates[at].source != rates[at - 1].source
        ],
        across=[
            Tick(round(LEFT + (at + 0.5) * step, 2), rates[at].day)
            for at in range(len(rates) - 1, -1, -every)
        ],
        upwards=[Tick(_y(share * end, end), f"{share * end:.0%}") for share in (0, 0.5, 1)],
        line=Tick(_y(line, end), f"{line:.0%}"),
        legend=list(tones.items()),
        header=["day", "differed", "rate", "95% interval", "answered as"],
        rows=[_row(rate) for rate in reversed(rates)],
    )


def told(rate: Rate) -> str:
    _, _, share, interval, _ = _row(rate)
    return f"{share} ({interval})"


def _mark(rate: Rate, x: float, end: float, tones: dict[str, str]) -> Mark:
    low, high = wilson(rate.hits, rate.total)
    return Mark(
        round(x, 2),
        _y(rate.hits / rate.total, end),
        _y(low, end),
        _y(high, end),
        tones[rate.source],
        f"{rate.day}: {rate.hits} of {rate.total} differed, {told(rate)}, {rate.source}",
    )


def _row(rate: Rate) -> list[str]:
    low, high = wilson(rate.hits, rate.total)
    share = f"{rate.hits / rate.total:.1%}"
    return [
        rate.day,
        f"{rate.hits} of {rate.total}",
        share,
        f"{low:.1%} to {high:.1%}",
        rate.source,
    ]


def _high(rate: Rate) -> float:
    return wilson(rate.hits, rate.total).high


def _y(share: float, end: float) -> float:
    return round(_FLOOR - share / end * (_FLOOR - TOP), 2)
