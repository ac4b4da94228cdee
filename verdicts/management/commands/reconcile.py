"""`manage.py reconcile [--since] [--apply]`: Stripe's payments beside what was made of them."""

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
from verdicts.reconciliation.payment_checks import ERASED, FINISHED, NOT_OURS, OLDER
from verdicts.reconciliation.reconcile import USUAL, Finding, Report, reconcile

DISCREPANCIES_LEFT: Final = 1
NOT_SEEN: Final = 2
SECONDS: Final = 3600.0  # for all of it; each call to Stripe has its own, much shorter one
_SPAN: Final = re.compile(r"([1-9][0-9]{0,3})([dh])")
_ENDS: Final = {
    "mended": "repaired",
    "faster": "no longer there",
    "case": "not repaired",
    "failed": "not repaired",
}
_UNIT: Final = {"d": timedelta(days=1), "h": timedelta(hours=1)}


class Command(BaseCommand):
    help = (
        "Compare Stripe's payments and refunds with orders, verdicts, emails, cached answers and "
        "the log; list every discrepancy with its repair. Nothing is changed without --apply. Exit "
        "code: 0 no discrepancies, or all repaired; 1 discrepancies are left; 2 not everything "
        "could be checked (Stripe is unreachable), or bad usage."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since",
            type=_since,
            metavar="WHEN",
            default=f"{USUAL.days}d",
            help="sessions made since then: 36h, 10d, 2026-05-01 or 2026-05-01T12:00 (UTC). "
            "Default %(default)s: Stripe repeats a webhook for three days, and its page can be "
            "paid on for one",
        )
        parser.add_argument(
            "--apply",
            action="store_true",
            help="repair what can be repaired: record missed payments and refunds, queue lost jobs "
            "again",
        )
        parser.add_argument(
            "--format",
            choices=("table", "json"),
            default="table",
            help="a table to read (default), or one JSON object",
        )

    def handle(self, *, since: datetime, apply: bool, **options: Any) -> None:
        with ProgressBar("sessions and orders looked at") as tick:
            account = stripe_account()
            found = reconcile(account=account, since=since, apply=apply, seconds=SECONDS, tick=tick)
        render = table if options["format"] == "table" else as_json
        for line in render(found, apply=apply):
            self.stdout.write(line)
        if found.unfinished:
            raise CommandError(_unseen(found), returncode=NOT_SEEN)
        if found.left:
            raise CommandError(_left(found, apply=apply), returncode=DISCREPANCIES_LEFT)


def _since(text: str) -> datetime:
    now = timezone.now()
    if span := _SPAN.fullmatch(text):
        return now - int(span[1]) * _UNIT[span[2]]
    try:
        at = parse_datetime(text)
        day = None if at else parse_date(text)
    except ValueError:  # well formed, and no day of any month
        at = day = None
    if day:
        at = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if at is None:
        raise ArgumentTypeError(f"36h, 10d or a date like 2026-05-01, not {text!r}")
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    if at > now:
        raise ArgumentTypeError(f"a time in the past, not {text!r}")
    return at


def table(found: Report, *, apply: bool) -> Iterator[str]:
    yield f"Since {format_datetime(found.look.since)} UTC. {_sessions(found)}"
    yield from _notes(found)
    yield ""
    if not found.findings:
        yield (
            "No discrepancies."
            if not found.unfinished
            else "No discrepancies in what could be checked."
        )
        return
    last = "What was done" if apply else "How to repair it"
    yield render_table(
        ("Discrepancy", "Order", "Session", "What is wrong", last),
        [_cells(one, apply=apply) for one in found.findings],
    )
    yield ""
    yield f"{_count(len(found.findings))}, {found.repaired:,} repaired."


def as_json(found: Report, *, apply: bool) -> Iterator[str]:
    report = {
        "since": timestamp(found.look.since),
        "applied": apply,
        "complete": not found.unfinished,
        "unreachable": found.unreachable or None,
        "sessions": {name: found.look.counts[name] for name in (FINISHED, NOT_OURS, ERASED, OLDER)},
        "idle_queues": found.idle,
        "gaps": [
            {
                "kind": one.discrepancy.kind,
                "order": one.discrepancy.order_id,
                "session": one.discrepancy.session or None,
                "what": one.discrepancy.what,
                "remedy": one.discrepancy.remedy,
                "done": one.repaired.how if one.repaired else None,
                "settled": one.is_settled,
            }
            for one in found.findings
        ],
    }
    yield json.dumps(report, indent=2)


def _cells(one: Finding, *, apply: bool) -> tuple[str, ...]:
    discrepancy = one.discrepancy
    if one.repaired:
        done = f"{_ENDS[one.repaired.end]}: {one.repaired.how}"
    else:
        done = (
            f"for a person: {discrepancy.remedy}"
            if apply or not discrepancy.repair
            else discrepancy.remedy
        )
    return (
        discrepancy.kind,
        str(discrepancy.order_id or "-"),
        discrepancy.session or "-",
        discrepancy.what,
        done,
    )


def _sessions(found: Report) -> str:
    counts = found.look.counts
    beside = [
        f"{counts[name]:,} {words}"
        for name, words in (
            (NOT_OURS, "not ours"),
            (ERASED, "of erased customers, left alone"),
            (OLDER, "from before this site, left alone"),
        )
        if counts[name]
    ]
    far = " as far as it could be asked" if found.unreachable else ""
    told = f"{counts[FINISHED]:,} finished session{'s' * (counts[FINISHED] != 1)} at Stripe{far}"
    return f"{told}: {', '.join(beside)}." if beside else f"{told}."


def _notes(found: Report) -> Iterator[str]:
    for name in found.idle:
        yield f"No worker takes jobs from the queue {name}: start its workers, or nothing moves."


def _unseen(found: Report) -> str:
    why = found.unreachable or f"it took longer than {SECONDS / 60:.0f} minutes"
    again = "Try again later" if found.unreachable else "Take a shorter --since"
    return f"Not everything could be checked: {why}. {again}."


def _left(found: Report, *, apply: bool) -> str:
    by_us = sum(one.discrepancy.repair is not None for one in found.findings) if not apply else 0
    people = found.left - by_us
    told = [f"{_count(by_us)} for --apply to repair"] if by_us else []
    told += [f"{_count(people)} for a person to repair"] if people else []
    return f"{' and '.join(told)}."


def _count(number: int) -> str:
    return f"{number:,} {'discrepancy' if number == 1 else 'discrepancies'}"
