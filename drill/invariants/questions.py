"""What the conductor asks of the drilled site's database (see `drill.invariants.examiner`)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone
from django_q.models import OrmQ

from audit.models import LogEntry
from drill.invariants.facts import number_in
from drill.invariants.gathering import has_swept, site_facts, waiting
from verdicts.jobs import queue
from verdicts.models import CachedVerdict, Delivery, Order, StripeEvent, Verdict
from verdicts.reconciliation.sweep import (
    OVERDUE_AFTER,
    overdue_comparisons,
    overdue_deliveries,
    overdue_orders,
    unprocessed_events,
)
from verdicts.results.cache import evict

# Whatever is waited for, as it is stored, and how much later the sweep takes it up.
WAITED_FOR: Final[list[tuple[QuerySet[Any], str, timedelta]]] = [
    (OrmQ.objects.all(), "lock", timedelta(0)),
    (Order.objects.filter(status__in=["paid", "generating"]), "due_at", OVERDUE_AFTER),
    (Delivery.objects.filter(state__in=["pending", "sending"]), "due_at", OVERDUE_AFTER),
    (Verdict.objects.filter(compare_due_at__isnull=False), "compare_due_at", OVERDUE_AFTER),
    (StripeEvent.objects.filter(processed_at=None), "received_at", timedelta(minutes=1)),
]
AT_ONCE: Final = timedelta(minutes=10)


def skip() -> int:
    """Have taken up what is left behind; where nothing is, let the time pass until something is.

    By the site's own workers: what they cannot take up is not to be taken up by us. Returns
    how many seconds have passed.
    """
    # Jobs that nobody takes, though they could, are for the pool's own watch to notice.
    if OrmQ.objects.filter(lock__lte=timezone.now()).exists():
        return 0
    if _is_left_behind():
        order_sweep()
        return 0
    return int(_pass_time().total_seconds())


def _is_left_behind() -> bool:
    """Whether there is anything that a sweep takes up."""
    overdue: list[QuerySet[Any]] = [
        unprocessed_events(),
        overdue_orders(),
        overdue_deliveries(),
        overdue_comparisons(),
        LogEntry.objects.pending(settings.ORACLE_LOG_NAME),
    ]
    return any(rows.exists() for rows in overdue)


def _pass_time() -> timedelta:
    now = timezone.now()
    due = [
        at + later
        for rows, name, later in WAITED_FOR
        for at in rows.values_list(name, flat=True)
        if at and at + later > now
    ]
    if not due:
        return timedelta(0)
    # Nobody is at anything now, so whatever is due at about the same time may be due at once.
    soon = [at for at in due if at <= min(due) + AT_ONCE]
    passed: timedelta = max(soon) - now + timedelta(seconds=1)
    for rows, name, _ in WAITED_FOR:
        rows.all().update(**{name: F(name) - passed})
    return passed


def evict_pages(sessions: list[str]) -> list[str]:
    """Those whose cached page is gone now."""
    orders = Order.objects.filter(session_id__in=sessions, status="delivered")
    gone = [order for order in orders if evict(order, who="drill", reason="to see it made again")]
    return [str(order.session_id) for order in gone]


def lost_pages(sessions: list[str]) -> list[str]:
    """Those of them that are not there."""
    cached = set(CachedVerdict.objects.values_list("session_id", flat=True))
    return [session for session in sessions if session not in cached]


def order_sweep() -> None:
    """By a worker, and sooner than the schedule comes round to it."""
    queue.enqueue(queue.SWEEP)


def is_at_rest() -> bool:
    """Whether the site has swept by itself, and nothing is left of it."""
    return has_swept() and not any(waiting().values())


def paid() -> list[int]:
    """The numbers of the customers who have paid, in the order in which we heard of it."""
    orders = Order.objects.exclude(paid_at=None).order_by("paid_at")
    return [number_in(query) for query in orders.values_list("query", flat=True)]


QUESTIONS: Final[dict[str, Callable[..., Any]]] = {
    "waiting": waiting,
    "skip": skip,
    "evict": evict_pages,
    "lost": lost_pages,
    "order_sweep": order_sweep,
    "is_at_rest": is_at_rest,
    "paid": paid,
    "facts": site_facts,
}
