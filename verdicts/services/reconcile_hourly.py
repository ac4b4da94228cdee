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

from audit.models import DayCount
from audit.subject import about
from verdicts import queue
from verdicts.gateways.stripe_api import Account
from verdicts.services.alerts import tell_gaps, tell_unreconciled
from verdicts.services.reconcile import OVERLAP, USUAL, Report, last_look, reconcile

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
    told = f"{report.mended} gaps mended, {report.left} left"
    return told if not report.unfinished else f"{told}, not to its end"


def _tell(report: Report) -> None:
    for one in report.findings:
        with about(one.gap.session_id):
            if one.mended:
                logger.info("%s: %s", one.gap.kind, one.mended.how)
            if not one.is_settled:
                logger.warning("gap left for a person: %s", one.gap.kind)
    if not report.unfinished:  # else there may be more
        DayCount.put(timezone.now().date(), DayCount.GAPS_LEFT, len(report.unseen))
    if report.unseen:
        tell_gaps(Counter(one.gap.kind for one in report.unseen))


def _make_up_for(report: Report, *, failing: bool) -> None:
    why = report.unreachable or f"it takes longer than {SECONDS:g} s"
    logger.warning("reconciling did not come to its end: %s", why)
    DayCount.add(timezone.now().date(), DayCount.UNRECONCILED)
    if report.mended and not report.unreachable:
        queue.enqueue(queue.RECONCILE)  # there is that much less to do now
    elif failing:
        tell_unreconciled(why)
