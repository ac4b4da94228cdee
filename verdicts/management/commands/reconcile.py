"""`manage.py reconcile [--since] [--apply]`: list and repair discrepancies with Stripe."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from audit.core.record import timestamp
from audit.management.terminal import ProgressBar, render_table
from verdicts.clients import stripe_account
from verdicts.core.formatting import format_datetime
from verdicts.reconciliation.discrepancies import RepairStatus
from verdicts.reconciliation.payment_checks import ERASED, FINISHED, NOT_OURS, OLDER
from verdicts.reconciliation.reconcile import DEFAULT_PERIOD, Finding, Report, reconcile

DISCREPANCIES_LEFT: Final = 1  # exit codes
INCOMPLETE: Final = 2
TIME_LIMIT: Final = 3600.0  # seconds for the run; calls to Stripe have shorter time-outs
_PERIOD: Final = re.compile(r"([1-9][0-9]{0,3})([dh])")
_STATUS_TEXTS: Final = {
    RepairStatus.REPAIRED: "repaired",
    RepairStatus.ALREADY_REPAIRED: "not needed",
    RepairStatus.CASE_OPENED: "not repaired",
    RepairStatus.FAILED: "not repaired",
}
_UNIT: Final = {"d": timedelta(days=1), "h": timedelta(hours=1)}


class Command(BaseCommand):
    help = (
        "Compare Stripe's payments and refunds with orders, verdicts, emails, cached responses "
        "and the log; list every discrepancy with its repair. Nothing is changed without --apply. "
        "Exit code: 0 no discrepancies, or all repaired; 1 discrepancies are left; 2 not "
        "everything could be checked (Stripe is unreachable), or bad usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since",
            type=_since,
            metavar="WHEN",
            default=f"{DEFAULT_PERIOD.days}d",
            help="check sessions created since then: 36h, 10d, 2026-05-01 or 2026-05-01T12:00 "
            "(UTC). Default %(default)s: Stripe retries a webhook for three days, and a session "
            "can be paid for one",
        )
        parser.add_argument(
            "--apply",
            action="store_true",
            help="repair what can be repaired: record missed payments and refunds, requeue lost "
            "jobs",
        )
        parser.add_argument(
            "--format",
            choices=("table", "json"),
            default="table",
            help="a table (default), or one JSON object",
        )

    def handle(self, *, since: datetime, apply: bool, **options: Any) -> None:
        with ProgressBar("sessions and orders checked") as progress:
            report = reconcile(
                account=stripe_account(),
                since=since,
                apply=apply,
                time_limit=TIME_LIMIT,
                on_progress=progress,
            )
        render = table if options["format"] == "table" else as_json
        for line in render(report, apply=apply):
            self.stdout.write(line)
        if report.is_incomplete:
            raise CommandError(_incomplete(report), returncode=INCOMPLETE)
        if report.left:
            raise CommandError(_left(report, apply=apply), returncode=DISCREPANCIES_LEFT)


def _since(text: str) -> datetime:
    now = timezone.now()
    if period := _PERIOD.fullmatch(text):
        return now - int(period[1]) * _UNIT[period[2]]
    try:
        at = parse_datetime(text)
        day = None if at else parse_date(text)
    except ValueError:  # well formed, but not a calendar date
        at = day = None
    if day:
        at = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if at is None:
        raise ArgumentTypeError(f"{text!r} is not a time: use 36h, 10d or a date like 2026-05-01")
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    if at > now:
        raise ArgumentTypeError(f"{text!r} is in the future")
    return at


def table(report: Report, *, apply: bool) -> Iterator[str]:
    yield f"Since {format_datetime(report.run.since)} UTC. {_sessions(report)}"
    yield from _notes(report)
    yield ""
    if not report.findings:
        yield (
            "No discrepancies in what could be checked."
            if report.is_incomplete
            else "No discrepancies."
        )
        return
    last = "What was done" if apply else "How to repair it"
    yield render_table(
        ("Discrepancy", "Order", "Session", "What is wrong", last),
        [_cells(finding, apply=apply) for finding in report.findings],
    )
    yield ""
    yield f"{_count(len(report.findings))}, {report.repaired:,} repaired."


def as_json(report: Report, *, apply: bool) -> Iterator[str]:
    document = {
        "since": timestamp(report.run.since),
        "applied": apply,
        "complete": not report.is_incomplete,
        "unreachable": report.stripe_error or None,
        "sessions": {name: report.run.counts[name] for name in (FINISHED, NOT_OURS, ERASED, OLDER)},
        "idle_queues": report.idle_queues,
        "gaps": [
            {
                "kind": finding.discrepancy.kind,
                "order": finding.discrepancy.order_id,
                "session": finding.discrepancy.session or None,
                "what": finding.discrepancy.description,
                "remedy": finding.discrepancy.remedy,
                "done": finding.result.detail if finding.result else None,
                "settled": finding.is_settled,
            }
            for finding in report.findings
        ],
    }
    yield json.dumps(document, indent=2)


def _cells(finding: Finding, *, apply: bool) -> tuple[str, ...]:
    discrepancy, result = finding.discrepancy, finding.result
    if result:
        action = f"{_STATUS_TEXTS[result.status]}: {result.detail}"
    elif apply or not discrepancy.repair:
        action = f"for staff: {discrepancy.remedy}"
    else:
        action = discrepancy.remedy
    return (
        discrepancy.kind,
        str(discrepancy.order_id or "-"),
        discrepancy.session or "-",
        discrepancy.description,
        action,
    )


def _sessions(report: Report) -> str:
    counts = report.run.counts
    ignored = [
        f"{counts[name]:,} {description}"
        for name, description in (
            (NOT_OURS, "not ours"),
            (ERASED, "of erased customers, ignored"),
            (OLDER, "older than this site, ignored"),
        )
        if counts[name]
    ]
    partly = " (incomplete)" if report.stripe_error else ""
    text = f"{counts[FINISHED]:,} finished session{'s' * (counts[FINISHED] != 1)} at Stripe{partly}"
    return f"{text}: {', '.join(ignored)}." if ignored else f"{text}."


def _notes(report: Report) -> Iterator[str]:
    for name in report.idle_queues:
        yield f"No worker takes jobs from the queue {name}: start its workers."


def _incomplete(report: Report) -> str:
    why = report.stripe_error or f"it took longer than {TIME_LIMIT / 60:.0f} minutes"
    advice = "Try again later" if report.stripe_error else "Use a shorter --since"
    return f"Not everything could be checked: {why}. {advice}."


def _left(report: Report, *, apply: bool) -> str:
    repairable = [] if apply else [one for one in report.findings if one.discrepancy.repair]
    for_staff = report.left - len(repairable)
    parts = [f"{_count(len(repairable))} for --apply to repair"] if repairable else []
    parts += [f"{_count(for_staff)} for staff to repair"] if for_staff else []
    return f"{' and '.join(parts)}."


def _count(number: int) -> str:
    return f"{number:,} {'discrepancy' if number == 1 else 'discrepancies'}"
