"""How things stand now, as gauges: what waits, where and for how long.

Each is read from an index that is as small as what waits. Orders, emails and
cases are customers': a smoke test's are left out. Queues, events and the log are
the machinery's, whoever keeps it busy.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone
from django_q.models import OrmQ
from prometheus_client.core import GaugeMetricFamily, Metric

from audit.models import DayCount, LogEntry
from audit.variance import variance
from verdicts.jobs.queue import GENERATE, POST
from verdicts.mail.kinds import COUNTED
from verdicts.models import Case, Delivery, Order, QueueHeartbeat, Reconciled, Status, StripeEvent

QUEUES = (GENERATE, POST)
UNFINISHED = (Status.PAID, Status.GENERATING, Status.HELD)
WAITING = (Delivery.State.PENDING, Delivery.State.SENDING)
UNSENT = (Delivery.State.FAILED, Delivery.State.UNCERTAIN)


def now() -> Iterator[Metric]:
    at = timezone.now()
    yield from _queues(at)
    orders = Order.objects.filter(status__in=UNFINISHED, smoke=False).values_list("status")
    counted = dict(orders.annotate(n=Count("pk")).order_by())
    yield _gauge(
        "orders_unfinished",
        "Paid orders that are not done with, by status.",
        [((status.value,), counted.get(status.value, 0)) for status in UNFINISHED],
        "status",
    )
    yield _gauge(
        "stripe_events_unprocessed",
        "Events of Stripe's that wait to be processed.",
        [((), StripeEvent.objects.filter(processed_at=None).count())],
    )
    yield _gauge(
        "emails_not_sent",
        "Emails that wait, or that could not be sent, by kind and state.",
        list(_emails()),
        "kind",
        "state",
    )
    kinds = Case.objects.filter(closed_at=None).values_list("kind").annotate(n=Count("pk"))
    cases = dict(kinds.order_by())
    yield _gauge(
        "cases_open",
        "Cases that wait for a person, by kind.",
        [((kind.value,), cases.get(kind.value, 0)) for kind in Case.Kind],
        "kind",
    )
    looks = Reconciled.objects.values_list("looked_at", flat=True)
    yield _gauge(
        "reconciled_timestamp_seconds",
        "When Stripe's books were last compared with ours to their end.",
        [((), at.timestamp()) for at in looks],
    )
    left = DayCount.objects.filter(name=DayCount.DISCREPANCIES_LEFT).order_by("-day")
    yield _gauge(
        "gaps_left",
        "Gaps that the last hourly look left for a person, and that have no case.",
        [((), left.values_list("count", flat=True).first() or 0)],
    )
    yield from _log(at)
    yield from _variance(at)


def _queues(at: datetime) -> Iterator[Metric]:
    due = Q(lock__lte=at)
    rows = OrmQ.objects.filter(key__in=QUEUES).values("key").order_by()
    counted = rows.annotate(
        due=Count("pk", filter=due), later=Count("pk", filter=~due), first=Min("lock", filter=due)
    )
    found = {row["key"]: row for row in counted}
    none = {"due": 0, "later": 0, "first": None}
    yield _gauge(
        "queue_jobs",
        "Jobs on the queue: due, or for later (delayed, or a worker is at it).",
        [
            ((queue, state), found.get(queue, none)[state])
            for queue in QUEUES
            for state in ("due", "later")
        ],
        "queue",
        "state",
    )
    yield _gauge(
        "queue_oldest_due_seconds",
        "How long the oldest due job has waited; 0 where none waits.",
        [((queue,), _age(found.get(queue, none)["first"], at)) for queue in QUEUES],
        "queue",
    )
    yield _gauge(
        "queue_last_taken_timestamp_seconds",
        "When a job was last taken from the queue.",
        [
            ((heartbeat.queue,), heartbeat.moved_at.timestamp())
            for heartbeat in QueueHeartbeat.objects.filter(queue__in=QUEUES)
        ],
        "queue",
    )


def _emails() -> Iterator[tuple[tuple[str, ...], int]]:
    for states in (WAITING, UNSENT):  # an index each
        some = Delivery.objects.filter(COUNTED, state__in=states).values_list("kind", "state")
        for kind, state, count in some.annotate(n=Count("pk")).order_by():
            yield (kind, state), count


def _log(at: datetime) -> Iterator[Metric]:
    pending = LogEntry.objects.filter(written_at__isnull=True).values("host").order_by()
    found = list(pending.annotate(n=Count("pk"), first=Min("created_at")))
    yield _gauge(
        "log_pending_lines",
        "Lines of oracle_log.jsonl that are not in their file yet, by log.",
        [((row["host"],), row["n"]) for row in found],
        "log",
    )
    yield _gauge(
        "log_oldest_pending_seconds",
        "How long the oldest of them has waited; 0 where none waits.",
        [((), max((_age(row["first"], at) for row in found), default=0.0))],
    )


def _variance(at: datetime) -> Iterator[Metric]:
    found = variance(at)
    for name, about, value in (
        ("variance_checked", "Regenerations on equal terms, of 30 days.", found.checked),
        ("variance_diverged", "Those of them that diverged.", found.diverged),
        ("variance_rate", "The share of them that diverged.", found.rate),
        ("variance_rate_low", "Lower end of its 95% interval.", found.interval.low),
        ("variance_rate_high", "Upper end of its 95% interval.", found.interval.high),
        ("escalated", "1 while the rate is above the line.", int(found.is_too_high)),
    ):
        yield _gauge(name, about, [((), value)])


def _age(since: datetime | None, at: datetime) -> float:
    return max(0.0, (at - since).total_seconds()) if since else 0.0


def _gauge(
    name: str, about: str, samples: Iterable[tuple[tuple[str, ...], float]], *labels: str
) -> Metric:
    family = GaugeMetricFamily(f"oracle_{name}", about, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family
