"""Picks up whatever a crash has left behind. Safe to run anywhere, any number of times.

Each step only queues or repeats what can run twice anyway.
"""

import logging
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from audit.log import log
from audit.models import CrosscheckLog
from verdicts.jobs import queue
from verdicts.models import Delivery, Order, Status, StripeEvent, Verdict
from verdicts.monitoring import daily_stats, stats_compaction
from verdicts.payments import rate_limit
from verdicts.payments.events import process_again
from verdicts.privacy import login_retention
from verdicts.results import read_rollup

logger = logging.getLogger(__name__)

# Overdue for this long, its job is lost and nobody is at it any more.
STALE: Final = timedelta(minutes=5)
MAX_PER_ROUND: Final = 500  # a round; the next one takes the rest


def sweep() -> dict[str, int]:
    """What was found and put back on its way, by kind."""
    found = {
        "events": _events(),
        "orders": _orders(),
        "deliveries": _deliveries(),
        "comparisons": _comparisons(),
        "log lines": log.sweep(),
        "lookups forgotten": rate_limit.forget_old(),
        "logins forgotten": login_retention.forget_old(),
        "evidence purged": _purge_evidence(),
    }
    read_rollup.add_up(most=MAX_PER_ROUND)
    daily_stats.roll_up_open_days()
    stats_compaction.add_up_old_days()
    if any(found.values()):
        logger.info("sweep: %s", found)
    return found


def _events() -> int:
    # The newest first: some wait for days for a payment that is not ours (see payments).
    return sum(
        process_again(event) for event in waiting_events().order_by("-received_at")[:MAX_PER_ROUND]
    )


def waiting_events() -> QuerySet[StripeEvent]:
    stale = timezone.now() - timedelta(minutes=1)
    return StripeEvent.objects.filter(processed_at=None, received_at__lt=stale)


def _orders() -> int:
    return sum(order_again(order) for order in overdue_orders().order_by("paid_at")[:MAX_PER_ROUND])


def overdue_orders() -> QuerySet[Order]:
    revived = ~Q(retired_model__in=["", settings.ORACLE_MODEL])
    unfinished = Order.objects.filter(status__in=[Status.PAID, Status.GENERATING])
    return unfinished.filter(_overdue() | revived)


def order_again(order: Order) -> bool:
    """Queue it, if it is still as it was found: a worker may have taken it meanwhile."""
    as_found = {"status": order.status, "due_at": order.due_at, "attempts": order.attempts}
    with transaction.atomic():
        # Due anew, so that a long queue is not filled with the same order every minute.
        found = Order.objects.filter(pk=order.pk, **as_found).update(
            retired_model="", due_at=timezone.now()
        )
        if found:
            queue.enqueue(queue.FULFIL, order.pk)
    return bool(found)


def _deliveries() -> int:
    stuck = overdue_deliveries().order_by("due_at")
    return sum(delivery_again(delivery) for delivery in stuck[:MAX_PER_ROUND])


def overdue_deliveries() -> QuerySet[Delivery]:
    unfinished = [Delivery.State.PENDING, Delivery.State.SENDING]
    return Delivery.objects.filter(_overdue(), state__in=unfinished)


def delivery_again(delivery: Delivery) -> bool:
    as_found = {
        "state": delivery.state,
        "due_at": delivery.due_at,
        "attempts": delivery.attempts,
    }
    with transaction.atomic():
        found = Delivery.objects.filter(pk=delivery.pk, **as_found).update(due_at=timezone.now())
        if found:
            queue.enqueue(queue.DELIVER, delivery.pk)
    return bool(found)


def _comparisons() -> int:
    due = overdue_comparisons().order_by("compare_due_at")
    return sum(comparison_again(regen) for regen in due[:MAX_PER_ROUND])


def overdue_comparisons() -> QuerySet[Verdict]:
    return Verdict.objects.filter(compare_due_at__lt=timezone.now() - STALE)


def comparison_again(regen: Verdict) -> bool:
    as_found = Verdict.objects.filter(pk=regen.pk, compare_due_at=regen.compare_due_at)
    with transaction.atomic():
        found = as_found.update(compare_due_at=timezone.now())
        if found:
            queue.enqueue(queue.COMPARE, regen.pk)
    return bool(found)


def _overdue() -> Q:
    # Unfinished and never due: whatever left it so, nobody would come for it.
    return Q(due_at__lt=timezone.now() - STALE) | Q(due_at=None)


def _purge_evidence() -> int:
    """Rejected text is kept for a while, and only for staff (C15)."""
    now = timezone.now()
    old = now - timedelta(days=settings.ORACLE_EVIDENCE_DAYS)
    return (
        CrosscheckLog.objects.filter(created_at__lt=old, evidence_purged_at=None, approved=False)
        .exclude(evidence="")
        .update(evidence="", evidence_purged_at=now)
    )
