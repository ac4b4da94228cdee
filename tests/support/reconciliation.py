"""Runs a reconciliation, and reads its report, for the tests of the checks."""

from datetime import timedelta

from django.utils import timezone

from verdicts.clients import stripe_account
from verdicts.reconciliation.reconcile import Report, reconcile


def run_reconcile(*, apply: bool = False, **since: float) -> Report:
    return reconcile(
        account=stripe_account(),
        since=timezone.now() - timedelta(**(since or {"days": 4})),
        apply=apply,
        time_limit=60,
    )


def discrepancies(report: Report) -> list[tuple[str, str]]:
    return [(one.discrepancy.kind, one.discrepancy.description) for one in report.findings]


def kinds(report: Report) -> list[str]:
    return [finding.discrepancy.kind for finding in report.findings]


def repairs(report: Report) -> list[str]:
    """What was done about each; '!' before a repair that leaves the discrepancy."""
    results = [finding.result for finding in report.findings]
    return [("" if one.is_settled else "!") + one.detail for one in results if one]
