"""The sweep: every minute, requeues overdue work and deletes what has passed its retention time.

Idempotent, and safe to run on several hosts at once.
"""

import logging
from datetime import timedelta
from typing import Final, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Model, Q, QuerySet
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

M = TypeVar("M", bound=Model)

# Work that has been due for this long has lost its job.
OVERDUE_AFTER: Final = timedelta(minutes=5)
EVENT_OVERDUE_AFTER: Final = timedelta(minutes=1)
MAX_PER_SWEEP: Final = 500  # of each kind; the next sweep takes the rest


def sweep() -> dict[str, int]:
    """How many rows were requeued, written or deleted, by kind."""
    counts = {
        "events": _process_events(),
        "orders": _requeue_orders(),
        "deliveries": _requeue_deliveries(),
        "comparisons": _requeue_comparisons(),
        "log lines": log.sweep(),
        "lookup limits deleted": rate_limit.delete_expired(),
        "logins deleted": login_retention.delete_expired(),
        "evidence purged": _purge_evidence(),
    }
    read_rollup.add_up(most=MAX_PER_SWEEP)
    daily_stats.roll_up_open_days()
    stats_compaction.compact_old_days()
    if any(counts.values()):
        logger.info("sweep: %s", counts)
    return counts


def _process_events() -> int:
    # Newest first: refunds of payments that are not ours stay unprocessed, and must not block.
    events = unprocessed_events().order_by("-received_at")
    return sum(process_again(event) for event in events[:MAX_PER_SWEEP])


def unprocessed_events() -> QuerySet[StripeEvent]:
    before = timezone.now() - EVENT_OVERDUE_AFTER
    return StripeEvent.objects.filter(processed_at=None, received_at__lt=before)


def _requeue_orders() -> int:
    overdue = overdue_orders().order_by("paid_at")
    return sum(requeue_order(order) for order in overdue[:MAX_PER_SWEEP])


def overdue_orders() -> QuerySet[Order]:
    """Also orders whose model was retired, once another model is configured."""
    has_new_model = ~Q(retired_model__in=["", settings.ORACLE_MODEL])
    unfinished = Order.objects.filter(status__in=[Status.PAID, Status.GENERATING])
    return unfinished.filter(_overdue() | has_new_model)


def requeue_order(order: Order) -> bool:
    unchanged = Order.objects.filter(
        pk=order.pk, status=order.status, due_at=order.due_at, attempts=order.attempts
    )
    return _requeue(unchanged, queue.FULFIL, order, due_at=timezone.now(), retired_model="")


def _requeue_deliveries() -> int:
    overdue = overdue_deliveries().order_by("due_at")
    return sum(requeue_delivery(delivery) for delivery in overdue[:MAX_PER_SWEEP])


def overdue_deliveries() -> QuerySet[Delivery]:
    unfinished = [Delivery.State.PENDING, Delivery.State.SENDING]
    return Delivery.objects.filter(_overdue(), state__in=unfinished)


def requeue_delivery(delivery: Delivery) -> bool:
    unchanged = Delivery.objects.filter(
        pk=delivery.pk, state=delivery.state, due_at=delivery.due_at, attempts=delivery.attempts
    )
    return _requeue(unchanged, queue.DELIVER, delivery, due_at=timezone.now())


def _requeue_comparisons() -> int:
    overdue = overdue_comparisons().order_by("compare_due_at")
    return sum(requeue_comparison(regen) for regen in overdue[:MAX_PER_SWEEP])


def overdue_comparisons() -> QuerySet[Verdict]:
    return Verdict.objects.filter(compare_due_at__lt=timezone.now() - OVERDUE_AFTER)


def requeue_comparison(regen: Verdict) -> bool:
    unchanged = Verdict.objects.filter(pk=regen.pk, compare_due_at=regen.compare_due_at)
    return _requeue(unchanged, queue.COMPARE, regen, compare_due_at=timezone.now())


def _requeue(unchanged: QuerySet[M], job: str, row: M, **changes: object) -> bool:
    """Compare-and-swap: False if a worker or another sweep has changed the row meanwhile.

    `changes` set a new due time, so that a long queue does not get the same job every minute.
    """
    with transaction.atomic():
        updated = unchanged.update(**changes)
        if updated:
            queue.enqueue(job, row.pk)
    return bool(updated)


def _overdue() -> Q:
    # Unfinished without a due time: no job would ever process it.
    return Q(due_at__lt=timezone.now() - OVERDUE_AFTER) | Q(due_at=None)


def _purge_evidence() -> int:
    """Deletes rejected outputs after ORACLE_EVIDENCE_DAYS (C15)."""
    now = timezone.now()
    before = now - timedelta(days=settings.ORACLE_EVIDENCE_DAYS)
    expired = CrosscheckLog.objects.filter(
        created_at__lt=before, evidence_purged_at=None, approved=False
    )
    return expired.exclude(evidence="").update(evidence="", evidence_purged_at=now)
