"""The house reconciles by itself every hour, so that nobody who has paid waits for ever.

Each look begins a day before the last that came to its end, however long ago that
was. A look that fails is counted and made up for by the next; staff hear of it
once it has failed for long, and once a day of gaps that only a person can mend.
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
from verdicts.reconciliation.reconcile import OVERLAP, USUAL, Report, last_look, reconcile

logger = logging.getLogger(__name__)

# A job of this queue may take 60 s, with a call to Stripe that begins at the end.
SECONDS: Final = 40.0
LONG: Final = timedelta(hours=6)


def reconcile_hourly(*, account: Account) -> str:
    """Mends what it finds; what it came to, in a sentence without anything of a customer's."""
    now, last = timezone.now(), last_look()
    since = last - OVERLAP if last else now - USUAL
    report = reconcile(account=account, since=since, apply=True, seconds=SECONDS)
    if report.unfinished:
        _make_up_for(report, failing=last is None or last < now - LONG)
    _tell(report)
    told = f"{report.repaired} gaps mended, {report.left} left"
    return told if not report.unfinished else f"{told}, not to its end"


def _tell(report: Report) -> None:
    for one in report.findings:
        with log_session(one.discrepancy.session_id):
            if one.repaired:
                logger.info("%s: %s", one.discrepancy.kind, one.repaired.how)
            if not one.is_settled:
                logger.warning("gap left for a person: %s", one.discrepancy.kind)
    if not report.unfinished:  # else there may be more
        DayCount.set_count(timezone.now().date(), DayCount.DISCREPANCIES_LEFT, len(report.unseen))
    if report.unseen:
        alert_discrepancies(Counter(one.discrepancy.kind for one in report.unseen))


def _make_up_for(report: Report, *, failing: bool) -> None:
    why = report.unreachable or f"it takes longer than {SECONDS:g} s"
    logger.warning("reconciling did not come to its end: %s", why)
    DayCount.add(timezone.now().date(), DayCount.UNRECONCILED)
    if report.repaired and not report.unreachable:
        queue.enqueue(queue.RECONCILE)  # there is that much less to do now
    elif failing:
        alert_unreconciled(why)
