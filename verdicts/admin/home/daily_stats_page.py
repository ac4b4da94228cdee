"""The house's figures as cards and charts."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

from audit.core.tmm import OMEGA
from audit.core.vocabulary import TIERS
from audit.variance import ALERT_RATE, DIVERGED, MIN_CHECKED, Variance
from verdicts.core.charts.columns import (
    LEFT,
    WIDTH,
    ColumnChart,
    Tick,
    column_chart,
    columns_by_day,
    ranked_bars,
)
from verdicts.core.formatting import format_amount
from verdicts.monitoring.daily_stats import SCORE_BUCKETS, DailyStats

_LEVELS: Final = ("none", *DIVERGED)


@dataclass(frozen=True, slots=True)
class Card:
    title: str
    value: str
    note: str = ""


def figures_page(found: DailyStats) -> dict[str, Any]:
    return {
        "cards": cards(found),
        "charts": [orders(found), answers(found), divergences(found), scores(found)],
        "tiers": tiers(found),
        "causes": ranked_bars(found.by_key("cause")),
        "flags": ranked_bars(dict(found.by_key("flag").most_common(8))),
        "variance": spread(found.variance),
    }


def cards(found: DailyStats) -> list[Card]:
    checks, passed = found.sum("original"), found.sum("original", key="pass")
    hits, regens = found.sum("hit"), found.sum("regen call")
    return [
        Card("Orders paid", f"{found.sum('order'):,}", by_tier(found)),
        Card("Revenue", f"CA${format_amount(found.sum('cents'))}", "before refunds"),
        Card("Approved by the gate", share(passed, checks), f"{passed:,} of {checks:,} originals"),
        Card(
            "Answered from the cache",
            share(hits, hits + regens),
            f"{hits:,} hits, {regens:,} regenerations",
        ),
        Card("Regenerations that differed", *differed(found)),
    ]


def by_tier(found: DailyStats) -> str:
    return ", ".join(f"{found.sum('order', tier=tier):,} {tier}" for tier in TIERS)


def differed(found: DailyStats) -> tuple[str, str]:
    diverged, checked = _compared(found)
    return share(diverged, checked), f"{diverged:,} of {checked:,} compared, whatever the cause"


def _compared(found: DailyStats, tier: str = "") -> tuple[int, int]:
    counts = {level: found.sum("divergence", tier=tier, key=level) for level in _LEVELS}
    return sum(counts[level] for level in DIVERGED), sum(counts.values())


def orders(found: DailyStats) -> ColumnChart:
    # One chart colour per tier: a new tier needs one here and in static/console.css.
    series: dict[str, list[int]] = {tier: found.series("order", tier=tier) for tier in TIERS}
    return columns_by_day("Orders paid, by tier", found.days, series, ["one", "two", "three"])


def answers(found: DailyStats) -> ColumnChart:
    series = {
        "from the cache": found.series("hit"),
        "regenerated": found.series("regen call"),
    }
    return columns_by_day("Answers to readers", found.days, series, ["one", "warn"])


def divergences(found: DailyStats) -> ColumnChart:
    series = {level: found.series("divergence", key=level) for level in _LEVELS}
    tones = ["good", "warn", "bad"]
    return columns_by_day("Regenerations compared, by level", found.days, series, tones)


def scores(found: DailyStats) -> ColumnChart:
    """How the gate's scores are spread, with its threshold."""
    counts: Counter[str] = found.by_key("score")
    places = ["below 0"] + [f"{at / SCORE_BUCKETS:.2f}" for at in range(SCORE_BUCKETS)] + ["1.00"]
    values = [counts[str(at)] for at in range(-1, SCORE_BUCKETS + 1)]
    x_ticks = {0: "< 0", 11: "0.2", 26: "0.5", 41: "0.8", SCORE_BUCKETS + 1: "1"}
    chart = column_chart(
        "Scores of the gate", places, {"checks": values}, ["one"], x_ticks, heading="score from"
    )
    step = (WIDTH - LEFT) / len(places)
    at = round(LEFT + step * (1 + OMEGA * SCORE_BUCKETS), 2)
    return replace(chart, threshold=Tick(at, f"Ω {OMEGA:.3f}"))


def tiers(found: DailyStats) -> list[list[str]]:
    rows = []
    for tier in TIERS:
        checks = found.sum("original", tier=tier)
        passed = found.sum("original", tier=tier, key="pass")
        diverged, compared = _compared(found, tier)
        money = format_amount(found.sum("cents", tier=tier))
        paid = f"{found.sum('order', tier=tier):,}"
        rows.append([tier, paid, money, share(passed, checks), share(diverged, compared)])
    return rows


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def spread(variance: Variance) -> dict[str, Any]:
    """R14's rate on an axis, with its interval and the line, in percent of the axis."""
    low, high = variance.interval
    end = max(2 * ALERT_RATE, high)
    place = {"low": low, "high": high, "rate": variance.rate, "line": ALERT_RATE}
    at = {name: round(100 * value / end, 2) for name, value in place.items()}
    return {
        **at,
        "span": round(at["high"] - at["low"], 2),
        "end": f"{end:.0%}",
        "line_label": f"{ALERT_RATE:.0%}",
        "value": f"{variance.rate:.1%}" if variance.checked else "–",
        "interval": f"{low:.1%} to {high:.1%}",
        "diverged": variance.diverged,
        "checked": variance.checked,
        "enough": variance.checked >= MIN_CHECKED,
        "fewest": MIN_CHECKED,
        "is_too_high": variance.is_too_high,
    }
