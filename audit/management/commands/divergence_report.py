"""`manage.py divergence_report`: how often regenerations differ from the emailed verdict."""

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
    " | equal inputs | diverged | rate | 95% interval | vs. alert rate"
)


class Command(BaseCommand):
    help = (
        "How often regenerations differ from the emailed verdict: by tier and level, with causes, "
        f"and the model's variance compared with R14's alert rate of {ALERT_RATE:.0%}, with its "
        "95% Wilson interval. Read-only. Exit code: 0, whatever the rate; 2 bad usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days", type=_days, default=DAYS, help=f"the last N days (default {DAYS})"
        )
        parser.add_argument("--tier", choices=TIERS, default="", help="one tier only")
        parser.add_argument(
            "--format",
            choices=RENDERED,
            default="table",
            help="a table (default), one JSON object, or CSV with a row per tier",
        )

    def handle(self, *, days: int, tier: str, **options: Any) -> str:
        found = divergence_rates(days=days, tier=tier, now=timezone.now())
        return RENDERED[options["format"]](found, days)


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MAX_DAYS:
        raise ArgumentTypeError(f"must be a number of days from 1 to {MAX_DAYS}, not {text!r}")
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
        "Rate: divergences among comparisons with the original's prompt, config and model.",
        f"The alert rate is {ALERT_RATE:.0%}, and applies from {MIN_CHECKED} comparisons on (R14).",
        "",
        "Causes of divergence",
    ]
    causes = found.total.causes.most_common()
    lines += [f"  {name:<16} {count:>9,}" for name, count in causes] or ["  no divergence"]
    lines += ["", "Escalations (all tiers)"]
    lines += [f"  {_escalation(one)}" for one in found.escalations] or ["  none"]
    return "\n".join(lines)


def as_json(found: Divergences, days: int) -> str:
    report = {
        "days": days,
        "since": timestamp(found.since),
        "until": timestamp(found.until),
        "line": ALERT_RATE,
        "fewest": MIN_CHECKED,
        "rates": [_values(rates) for rates in _rows(found)],
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
    flat = [_flat(_values(rates)) for rates in _rows(found)]
    writer.writerow(flat[0])
    for row in flat:
        values = row.values()
        writer.writerow([escape_formulas(one) if isinstance(one, str) else one for one in values])
    return out.getvalue().rstrip("\n")


RENDERED: Final = {"table": table, "json": as_json, "csv": as_csv}


def _rows(found: Divergences) -> list[Rates]:
    return [*found.tiers, found.total] if len(found.tiers) > 1 else found.tiers


def _values(rates: Rates) -> dict[str, Any]:
    variance = rates.variance
    return {
        "tier": rates.tier,
        "compared": rates.compared,
        "levels": {level: rates.levels[level] for level in LEVELS},
        "causes": {cause: rates.causes[cause] for cause in CAUSES},
        "equal_terms": variance.checked,
        "diverged": variance.diverged,
        "rate": variance.rate if variance.checked else None,
        "interval": list(variance.interval),
        "standing": variance.assessment,
    }


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    low, high = values.pop("interval")
    levels, causes = values.pop("levels"), values.pop("causes")
    return {
        **values,
        "low": low,
        "high": high,
        **{f"level_{name}": count for name, count in levels.items()},
        **{f"cause_{name}": count for name, count in causes.items()},
    }


def _cells(rates: Rates) -> tuple[str, ...]:
    variance = rates.variance
    low, high = variance.interval
    levels = (rates.levels[level] for level in LEVELS)
    counts = (rates.compared, *levels, variance.checked, variance.diverged)
    return (
        rates.tier,
        *(f"{count:,}" for count in counts),
        f"{variance.rate:.1%}" if variance.checked else "-",
        f"{low:.1%} to {high:.1%}" if variance.checked else "-",
        variance.assessment,
    )


def _escalation(one: Escalation) -> str:
    return (
        f"{one.day}  {one.diverged:,} of {one.checked:,} ({one.rate:.1%}, "
        f"{one.low:.1%} to {one.high:.1%})"
    )
