"""The daily statistics as cards and charts."""

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
from verdicts.core.formatting import format_amount, format_interval
from verdicts.monitoring.daily_stats import SCORE_BUCKETS, DailyStats

_LEVELS: Final = ("none", *DIVERGED)


@dataclass(frozen=True, slots=True)
class Card:
    title: str
    value: str
    note: str = ""


def daily_stats_page(stats: DailyStats) -> dict[str, Any]:
    return {
        "cards": cards(stats),
        "charts": [orders(stats), cache_reads(stats), divergences(stats), scores(stats)],
        "tiers": tiers(stats),
        "causes": ranked_bars(stats.by_key("cause")),
        "flags": ranked_bars(dict(stats.by_key("flag").most_common(8))),
        "variance": variance_chart(stats.variance),
    }


def cards(stats: DailyStats) -> list[Card]:
    checks, passed = stats.sum("original"), stats.sum("original", key="pass")
    hits, regens = stats.sum("hit"), stats.sum("regen call")
    return [
        Card("Orders paid", f"{stats.sum('order'):,}", by_tier(stats)),
        Card("Revenue", f"CA${format_amount(stats.sum('cents'))}", "before refunds"),
        Card("Approved by the gate", share(passed, checks), f"{passed:,} of {checks:,} originals"),
        Card(
            "Served from the cache",
            share(hits, hits + regens),
            f"{hits:,} hits, {regens:,} regenerations",
        ),
        Card("Regenerations that differed", *divergence_rate(stats)),
    ]


def by_tier(stats: DailyStats) -> str:
    return ", ".join(f"{stats.sum('order', tier=tier):,} {tier}" for tier in TIERS)


def divergence_rate(stats: DailyStats) -> tuple[str, str]:
    diverged, checked = _compared(stats)
    return share(diverged, checked), f"{diverged:,} of {checked:,} compared, whatever the cause"


def _compared(stats: DailyStats, tier: str = "") -> tuple[int, int]:
    counts = {level: stats.sum("divergence", tier=tier, key=level) for level in _LEVELS}
    return sum(counts[level] for level in DIVERGED), sum(counts.values())


def orders(stats: DailyStats) -> ColumnChart:
    # One chart colour per tier: a new tier needs one here and in static/console.css.
    series: dict[str, list[int]] = {tier: stats.series("order", tier=tier) for tier in TIERS}
    return columns_by_day("Orders paid, by tier", stats.days, series, ["one", "two", "three"])


def cache_reads(stats: DailyStats) -> ColumnChart:
    series = {
        "from the cache": stats.series("hit"),
        "regenerated": stats.series("regen call"),
    }
    return columns_by_day("Reads of results", stats.days, series, ["one", "warn"])


def divergences(stats: DailyStats) -> ColumnChart:
    series = {level: stats.series("divergence", key=level) for level in _LEVELS}
    tones = ["good", "warn", "bad"]
    return columns_by_day("Regenerations compared, by level", stats.days, series, tones)


def scores(stats: DailyStats) -> ColumnChart:
    """A histogram of the gate's scores, with its threshold."""
    counts: Counter[str] = stats.by_key("score")
    buckets = ["below 0"] + [f"{at / SCORE_BUCKETS:.2f}" for at in range(SCORE_BUCKETS)] + ["1.00"]
    heights = [counts[str(at)] for at in range(-1, SCORE_BUCKETS + 1)]
    x_ticks = {0: "< 0", 11: "0.2", 26: "0.5", 41: "0.8", SCORE_BUCKETS + 1: "1"}
    chart = column_chart(
        "Scores of the gate", buckets, {"checks": heights}, ["one"], x_ticks, heading="score from"
    )
    step = (WIDTH - LEFT) / len(buckets)
    at = round(LEFT + step * (1 + OMEGA * SCORE_BUCKETS), 2)
    return replace(chart, threshold=Tick(at, f"Ω {OMEGA:.3f}"))


def tiers(stats: DailyStats) -> list[list[str]]:
    rows = []
    for tier in TIERS:
        checks = stats.sum("original", tier=tier)
        passed = stats.sum("original", tier=tier, key="pass")
        diverged, compared = _compared(stats, tier)
        money = format_amount(stats.sum("cents", tier=tier))
        paid = f"{stats.sum('order', tier=tier):,}"
        rows.append([tier, paid, money, share(passed, checks), share(diverged, compared)])
    return rows


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def variance_chart(variance: Variance) -> dict[str, Any]:
    """R14's rate, its interval and the alert rate; positions in percent of the axis."""
    low, high = variance.interval
    end = max(2 * ALERT_RATE, high)
    values = {"low": low, "high": high, "rate": variance.rate, "alert_rate": ALERT_RATE}
    at = {name: round(100 * value / end, 2) for name, value in values.items()}
    return {
        **at,
        "span": round(at["high"] - at["low"], 2),
        "end": f"{end:.0%}",
        "alert_rate_label": f"{ALERT_RATE:.0%}",
        "value": f"{variance.rate:.1%}" if variance.checked else "–",
        "interval": format_interval(low, high),
        "diverged": variance.diverged,
        "checked": variance.checked,
        "min_checked": MIN_CHECKED,
        "is_too_high": variance.is_too_high,
    }
