"""`manage.py divergence_report`: how often regenerations differ from what was emailed."""

import csv
import io
import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any, Final

from django.core.management.base import BaseCommand
from django.utils import timezone

from audit.core.record import timestamp
from audit.core.spreadsheet import escape_formulas
from audit.core.vocabulary import TIERS
from audit.divergence_rates import Divergences, Rates, divergence_rates
from audit.management.terminal import render_table
from audit.models import Escalation
from audit.variance import ALERT_RATE, DAYS, MIN_CHECKED

LEVELS: Final = ("none", "minor", "significant", "skipped")
CAUSES: Final = ("prompt", "config", "model", "infrastructure", "unknown")
MAX_DAYS: Final = 3660
HEADER: Final = (
    "Tier | compared | same | minor | significant | skipped"
    " | equal terms | diverged | rate | 95% interval | against the line"
)


class Command(BaseCommand):
    help = (
        "How often regenerations differ from what was emailed: by tier and level, with the causes, "
        f"and the model's own variance against R14's line of {ALERT_RATE:.0%}, with Wilson's 95% "
        "interval. Reads only. Exit code: 0, whatever the rate is; 2 bad usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=_days, default=DAYS, help=f"the last N (default {DAYS})")
        parser.add_argument("--tier", choices=TIERS, default="", help="of one tier only")
        parser.add_argument(
            "--format",
            choices=RENDERED,
            default="table",
            help="a table to read (default), one JSON object, or CSV with a row per tier",
        )

    def handle(self, *, days: int, tier: str, **options: Any) -> str:
        found = divergence_rates(days=days, tier=tier, now=timezone.now())
        return RENDERED[options["format"]](found, days)


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MAX_DAYS:
        raise ArgumentTypeError(f"a number of days from 1 to {MAX_DAYS}, not {text!r}")
    return int(text)


def table(found: Divergences, days: int) -> str:
    header = tuple(HEADER.split(" | "))
    body = [_cells(rates) for rates in _rows(found)]
    period = f"{found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC"
    lines = [
        f"Divergence, last {days} days: {period}",
        "",
        render_table(header, body, right=range(1, len(header) - 1), rules_before={len(body) - 1}),
        "",
        "Rate: divergences among those whose prompt, config and model were the original's.",
        f"The line is {ALERT_RATE:.0%}, and counts from {MIN_CHECKED} comparisons on (R14).",
        "",
        "Causes of divergence",
    ]
    causes = [(name, f"{found.total.causes[name]:,}") for name in _by_count(found.total)]
    lines += [f"  {name:<16} {count:>9}" for name, count in causes] or ["  nothing diverged"]
    lines += ["", "Escalations, of all tiers"]
    lines += [f"  {_escalation(one)}" for one in found.escalations] or ["  none"]
    return "\n".join(lines)


def as_json(found: Divergences, days: int) -> str:
    report = {
        "days": days,
        "since": timestamp(found.since),
        "until": timestamp(found.until),
        "line": ALERT_RATE,
        "fewest": MIN_CHECKED,
        "rates": [_figures(rates) for rates in _rows(found)],
        "escalations": [
            {
                "day": one.day.isoformat(),
                "checked": one.checked,
                "diverged": one.diverged,
                "rate": one.rate,
                "interval": [one.low, one.high],
            }
            for one in found.escalations
        ],
    }
    return json.dumps(report, indent=2)


def as_csv(found: Divergences, _days: int) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    flat = [_flat(_figures(rates)) for rates in _rows(found)]
    writer.writerow(flat[0])
    for row in flat:
        values = row.values()
        writer.writerow([escape_formulas(one) if isinstance(one, str) else one for one in values])
    return out.getvalue().rstrip("\n")


RENDERED: Final = {"table": table, "json": as_json, "csv": as_csv}


def _rows(found: Divergences) -> list[Rates]:
    return [*found.tiers, found.total] if len(found.tiers) > 1 else found.tiers


def _figures(rates: Rates) -> dict[str, Any]:
    of = rates.variance
    return {
        "tier": rates.tier,
        "compared": rates.compared,
        "levels": {level: rates.levels[level] for level in LEVELS},
        "causes": {cause: rates.causes[cause] for cause in CAUSES},
        "equal_terms": of.checked,
        "diverged": of.diverged,
        "rate": of.rate if of.checked else None,
        "interval": list(of.interval),
        "standing": of.assessment,
    }


def _flat(figures: dict[str, Any]) -> dict[str, Any]:
    low, high = figures.pop("interval")
    levels, causes = figures.pop("levels"), figures.pop("causes")
    return {
        **figures,
        "low": low,
        "high": high,
        **{f"level_{name}": count for name, count in levels.items()},
        **{f"cause_{name}": count for name, count in causes.items()},
    }


def _cells(rates: Rates) -> tuple[str, ...]:
    of = rates.variance
    counts = (rates.compared, *(rates.levels[level] for level in LEVELS), of.checked, of.diverged)
    return (
        rates.tier,
        *(f"{count:,}" for count in counts),
        f"{of.rate:.1%}" if of.checked else "-",
        f"{of.interval.low:.1%} to {of.interval.high:.1%}" if of.checked else "-",
        of.assessment,
    )


def _by_count(rates: Rates) -> list[str]:
    return [name for name, _ in rates.causes.most_common()]


def _escalation(one: Escalation) -> str:
    return (
        f"{one.day}  {one.diverged:,} of {one.checked:,} ({one.rate:.1%}, "
        f"{one.low:.1%} to {one.high:.1%})"
    )
