"""Gauges: what is waiting now, where and for how long.

Orders, emails, cases and events are counted by partial indexes, so the cost depends on what is
waiting and not on the size of the tables. Smoke tests are excluded from orders,
emails and cases, but not from queues, events and the log.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone
from django_q.models import OrmQ
from prometheus_client.core import Metric

from audit.models import DayCount, LogEntry
from audit.variance import variance
from verdicts.jobs.queue import GENERATE, POST
from verdicts.mail.kinds import COUNTED
from verdicts.models import Case, Delivery, Order, QueueHeartbeat, Reconciled, Status, StripeEvent
from verdicts.monitoring.metric_families import gauge

QUEUES = (GENERATE, POST)
UNFINISHED = (Status.PAID, Status.GENERATING, Status.HELD)
WAITING = (Delivery.State.PENDING, Delivery.State.SENDING)
UNSENT = (Delivery.State.FAILED, Delivery.State.UNCERTAIN)


def collect_gauges() -> Iterator[Metric]:
    now = timezone.now()
    yield from _queues(now)
    orders = Order.objects.filter(status__in=UNFINISHED, smoke=False).values_list("status")
    counted = dict(orders.annotate(n=Count("pk")).order_by())
    yield gauge(
        "orders_unfinished",
        "Paid orders that are not finished, by status.",
        [((status.value,), counted.get(status.value, 0)) for status in UNFINISHED],
        "status",
    )
    yield gauge(
        "stripe_events_unprocessed",
        "Stripe events that are not processed yet.",
        [((), StripeEvent.objects.filter(processed_at=None).count())],
    )
    yield gauge(
        "emails_not_sent",
        "Emails that are waiting or were given up, by kind and state.",
        list(_emails()),
        "kind",
        "state",
    )
    kinds = Case.objects.filter(closed_at=None).values_list("kind").annotate(n=Count("pk"))
    cases = dict(kinds.order_by())
    yield gauge(
        "cases_open",
        "Open cases, by kind.",
        [((kind.value,), cases.get(kind.value, 0)) for kind in Case.Kind],
        "kind",
    )
    completed = Reconciled.objects.values_list("looked_at", flat=True)
    yield gauge(
        "reconciled_timestamp_seconds",
        "When reconciliation last completed.",
        [((), at.timestamp()) for at in completed],
    )
    left = DayCount.objects.filter(name=DayCount.DISCREPANCIES_LEFT).order_by("-day")
    yield gauge(
        "discrepancies_left",
        "Discrepancies without a case that the last hourly reconciliation left for staff.",
        [((), left.values_list("count", flat=True).first() or 0)],
    )
    yield from _log(now)
    yield from _variance(now)


def _queues(now: datetime) -> Iterator[Metric]:
    due = Q(lock__lte=now)
    rows = OrmQ.objects.filter(key__in=QUEUES).values("key").order_by()
    counted = rows.annotate(
        due=Count("pk", filter=due), later=Count("pk", filter=~due), first=Min("lock", filter=due)
    )
    found = {row["key"]: row for row in counted}
    none = {"due": 0, "later": 0, "first": None}
    yield gauge(
        "queue_jobs",
        "Jobs on the queue: due, or later (delayed, or running).",
        [
            ((queue, state), found.get(queue, none)[state])
            for queue in QUEUES
            for state in ("due", "later")
        ],
        "queue",
        "state",
    )
    yield gauge(
        "queue_oldest_due_seconds",
        "Age of the oldest due job; 0 if none is waiting.",
        [((queue,), _age(found.get(queue, none)["first"], now)) for queue in QUEUES],
        "queue",
    )
    yield gauge(
        "queue_last_taken_timestamp_seconds",
        "When a job was last taken from the queue.",
        [
            ((heartbeat.queue,), heartbeat.moved_at.timestamp())
            for heartbeat in QueueHeartbeat.objects.filter(queue__in=QUEUES)
        ],
        "queue",
    )


def _emails() -> Iterator[tuple[tuple[str, ...], int]]:
    for states in (WAITING, UNSENT):  # each has its own index
        rows = Delivery.objects.filter(COUNTED, state__in=states).values_list("kind", "state")
        for kind, state, count in rows.annotate(n=Count("pk")).order_by():
            yield (kind, state), count


def _log(now: datetime) -> Iterator[Metric]:
    pending = LogEntry.objects.filter(written_at__isnull=True).values("host").order_by()
    found = list(pending.annotate(n=Count("pk"), first=Min("created_at")))
    yield gauge(
        "log_pending_lines",
        "Lines not yet written to oracle_log.jsonl, by log name.",
        [((row["host"],), row["n"]) for row in found],
        "log",
    )
    yield gauge(
        "log_oldest_pending_seconds",
        "Age of the oldest unwritten log line; 0 if none is waiting.",
        [((), max((_age(row["first"], now) for row in found), default=0.0))],
    )


def _variance(now: datetime) -> Iterator[Metric]:
    found = variance(now)
    for name, documentation, value in (
        ("variance_checked", "Regenerations compared on equal terms, last 30 days.", found.checked),
        ("variance_diverged", "Those that diverged.", found.diverged),
        ("variance_rate", "Share of regenerations that diverged.", found.rate),
        ("variance_rate_low", "Lower bound of the rate's 95% interval.", found.interval.low),
        ("variance_rate_high", "Upper bound of the rate's 95% interval.", found.interval.high),
        ("escalated", "1 while the rate is above its limit.", int(found.is_too_high)),
    ):
        yield gauge(name, documentation, [((), value)])


def _age(since: datetime | None, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if since else 0.0
