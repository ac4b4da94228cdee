"""One reconcile run, for the tests of the discrepancies that it finds."""

from datetime import timedelta

from django.utils import timezone

from verdicts.clients import stripe_account
from verdicts.reconciliation.reconcile import Report, reconcile


def look(*, apply: bool = False, **since: float) -> Report:
    return reconcile(
        account=stripe_account(),
        since=timezone.now() - timedelta(**(since or {"days": 4})),
        apply=apply,
        seconds=60,
    )


def discrepancies(report: Report) -> list[tuple[str, str]]:
    return [(one.discrepancy.kind, one.discrepancy.what) for one in report.findings]


def kinds(report: Report) -> list[str]:
    return [one.discrepancy.kind for one in report.findings]


def done(report: Report) -> list[str]:
    """How each discrepancy was repaired; with a leading '!' if that did not settle it."""
    repaired = [one.repaired for one in report.findings]
    return [("" if one.settled else "!") + one.how for one in repaired if one]
