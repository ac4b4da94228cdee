"""Hourly reconciliation: repairs what it can without staff.

Each run's period begins 25 hours before the last completed run, however long ago that was, so an
incomplete run is made up for by the next. Staff are alerted when no run has completed for hours,
and once a day about discrepancies that only they can repair.
"""

import logging
from collections import Counter
from datetime import timedelta
from typing import Final

from django.utils import timezone

from audit.log_context import log_session
from audit.models import DayCount
from verdicts.jobs import queue
from verdicts.mail.alerts import alert_discrepancies, alert_unreconciled
from verdicts.payments.client import Account
from verdicts.reconciliation.reconcile import (
    DEFAULT_PERIOD,
    OVERLAP,
    Report,
    last_completed,
    reconcile,
)

logger = logging.getLogger(__name__)

# A job of this queue may take 60 s, and the last call to Stripe can begin at the very end.
TIME_LIMIT: Final = 40.0  # seconds
ALERT_AFTER: Final = timedelta(hours=6)


def reconcile_hourly(*, account: Account) -> str:
    """A summary without personal data."""
    now, last = timezone.now(), last_completed()
    since = last - OVERLAP if last else now - DEFAULT_PERIOD
    report = reconcile(account=account, since=since, apply=True, time_limit=TIME_LIMIT)
    if report.is_incomplete:
        _handle_incomplete(report, overdue=last is None or last < now - ALERT_AFTER)
    _report_findings(report)
    summary = f"{report.repaired} repaired, {report.left} left"
    return f"{summary}, incomplete" if report.is_incomplete else summary


def _report_findings(report: Report) -> None:
    for finding in report.findings:
        with log_session(finding.discrepancy.session_id):
            if finding.result:
                logger.info("%s: %s", finding.discrepancy.kind, finding.result.detail)
            if not finding.is_settled:
                logger.warning("discrepancy left for staff: %s", finding.discrepancy.kind)
    if not report.is_incomplete:  # the count of an incomplete run would be too low
        today = timezone.now().date()
        DayCount.set_count(today, DayCount.DISCREPANCIES_LEFT, len(report.without_case))
    if report.without_case:
        alert_discrepancies(Counter(one.discrepancy.kind for one in report.without_case))


def _handle_incomplete(report: Report, *, overdue: bool) -> None:
    why = report.stripe_error or f"it takes longer than {TIME_LIMIT:g} s"
    logger.warning("reconciliation did not complete: %s", why)
    DayCount.add(timezone.now().date(), DayCount.UNRECONCILED)
    if report.repaired and not report.stripe_error:
        queue.enqueue(queue.RECONCILE)  # the next run has less left to do
    elif overdue:
        alert_unreconciled(why)
