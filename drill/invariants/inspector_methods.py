"""What the drill reads from the site's database and changes in it (`drill.invariants.inspector`).

Changes are limited to what customers cannot do and time would: evictions, an early sweep, and
the end of a pause. The work itself is left to the site's own workers.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone
from django_q.models import OrmQ

from audit.models import LogEntry
from drill.invariants.facts import number_in
from drill.invariants.site_facts import has_swept, pending, site_facts
from verdicts.jobs import queue
from verdicts.models import CachedVerdict, Delivery, Order, Status, StripeEvent, Verdict
from verdicts.reconciliation.sweep import (
    OVERDUE_AFTER,
    overdue_comparisons,
    overdue_deliveries,
    overdue_orders,
    unprocessed_events,
)
from verdicts.results.cache import evict

# Pending rows, the column that says when they are due, and how much later the sweep requeues them.
PENDING_ROWS: Final[list[tuple[QuerySet[Any], str, timedelta]]] = [
    (OrmQ.objects.all(), "lock", timedelta(0)),
    (Order.objects.filter(status__in=[Status.PAID, Status.GENERATING]), "due_at", OVERDUE_AFTER),
    (
        Delivery.objects.filter(state__in=[Delivery.State.PENDING, Delivery.State.SENDING]),
        "due_at",
        OVERDUE_AFTER,
    ),
    (Verdict.objects.filter(compare_due_at__isnull=False), "compare_due_at", OVERDUE_AFTER),
    (StripeEvent.objects.filter(processed_at=None), "received_at", timedelta(minutes=1)),
]
SKIPPED_TOGETHER: Final = timedelta(minutes=10)


def skip_pause() -> int:
    """Have overdue work swept; where none is overdue, move all due times back until some is.

    Returns the number of seconds by which they were moved.
    """
    # Jobs that could be taken, but are not, are for the worker's watchdog to notice.
    if OrmQ.objects.filter(lock__lte=timezone.now()).exists():
        return 0
    if _is_anything_overdue():
        queue_sweep()
        return 0
    return int(_move_due_times().total_seconds())


def _is_anything_overdue() -> bool:
    """Whether there is work for a sweep."""
    overdue: list[QuerySet[Any]] = [
        unprocessed_events(),
        overdue_orders(),
        overdue_deliveries(),
        overdue_comparisons(),
        LogEntry.objects.pending(settings.ORACLE_LOG_NAME),
    ]
    return any(rows.exists() for rows in overdue)


def _move_due_times() -> timedelta:
    now = timezone.now()
    due = [
        at + delay
        for rows, column, delay in PENDING_ROWS
        for at in rows.values_list(column, flat=True)
        if at and at + delay > now
    ]
    if not due:
        return timedelta(0)
    # Nothing is running, so rows that are due at about the same time can be due at once.
    soon = [at for at in due if at <= min(due) + SKIPPED_TOGETHER]
    skipped: timedelta = max(soon) - now + timedelta(seconds=1)
    for rows, column, _ in PENDING_ROWS:
        rows.all().update(**{column: F(column) - skipped})
    return skipped


def evict_pages(sessions: list[str]) -> list[str]:
    """The sessions whose cached verdict was evicted."""
    orders = Order.objects.filter(session_id__in=sessions, status=Status.DELIVERED)
    evicted = [order for order in orders if evict(order, who="drill", reason="regeneration test")]
    return [str(order.session_id) for order in evicted]


def evicted_pages(sessions: list[str]) -> list[str]:
    """Those of the sessions that have no cached verdict."""
    cached = set(CachedVerdict.objects.values_list("session_id", flat=True))
    return [session for session in sessions if session not in cached]


def queue_sweep() -> None:
    """Before the schedule does."""
    queue.enqueue(queue.SWEEP)


def is_idle() -> bool:
    """Whether the site's own schedule has queued a sweep, and nothing is pending."""
    return has_swept() and not any(pending().values())


def paid() -> list[int]:
    """The numbers of the customers who paid, in the order in which payments were recorded."""
    orders = Order.objects.exclude(paid_at=None).order_by("paid_at")
    return [number_in(query) for query in orders.values_list("query", flat=True)]


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "pending": pending,
    "skip_pause": skip_pause,
    "evict": evict_pages,
    "evicted": evicted_pages,
    "queue_sweep": queue_sweep,
    "is_idle": is_idle,
    "paid": paid,
    "facts": site_facts,
}
