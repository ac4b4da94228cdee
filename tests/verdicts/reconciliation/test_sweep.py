"""The sweep requeues what a crash has left behind, once, also when many sweeps run at once."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connections
from django.utils import timezone
from django_q.models import OrmQ

from audit.log.verify import verify_log
from audit.models import LogEntry
from drill.faults.disk import FullDevice
from tests.support.stripe_objects import session_object
from verdicts.models import Delivery, Order, Status, StripeEvent, Verdict
from verdicts.reconciliation.sweep import sweep

pytestmark = pytest.mark.django_db(transaction=True)

CONCURRENT_SWEEPS = 6
OVERDUE = timedelta(minutes=6)


def sweep_concurrently() -> Counter[str]:
    """Run several sweeps at once; returns the sum of their counts."""
    start = Barrier(CONCURRENT_SWEEPS)

    def run(_: int) -> Counter[str]:
        start.wait()
        try:
            return Counter(sweep())
        finally:
            connections.close_all()

    with ThreadPoolExecutor(CONCURRENT_SWEEPS) as pool:
        return sum(pool.map(run, range(CONCURRENT_SWEEPS)), Counter())


@pytest.fixture
def crashed(sandbox, paid_order, missed, ask, settings) -> int:
    """Overdue work of every kind, without jobs. Returns how many lines are not in the log."""
    disk = FullDevice(settings.ORACLE_LOG_PATH)
    disk.fill()
    for order in [missed("quick") for _ in range(3)]:
        assert ask(order.session_id).status_code == 200  # regenerated, to be compared
    for _ in range(5):
        paid_order("quick")
    for number in range(4):
        session = session_object(
            id=f"cs_test_unseenEvent{number:04}", payment_intent=f"pi_n{number}"
        )
        StripeEvent.objects.create(
            event_id=f"evt_{number}", type="checkout.session.completed", object=json.dumps(session)
        )
    disk.free()
    OrmQ.objects.all().delete()
    long_ago = timezone.now() - OVERDUE
    StripeEvent.objects.update(received_at=long_ago)
    Order.objects.filter(status=Status.PAID).update(due_at=long_ago)
    Delivery.objects.update(state=Delivery.State.SENDING, due_at=long_ago)
    Verdict.objects.filter(kind="regen").update(compare_due_at=long_ago)
    return LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count()


def test_concurrent_sweeps_requeue_everything_once(crashed, run_jobs):
    assert crashed == 6  # three originals, three regenerations
    found = sweep_concurrently()
    assert +found == {
        "events": 4,
        "orders": 5,
        "deliveries": 3,
        "comparisons": 3,
        "log lines": crashed,
    }
    queued = Counter((row.task["func"], row.task["args"]) for row in OrmQ.objects.all())
    assert set(queued.values()) == {1}
    kinds = Counter(job.rpartition(".")[2] for job, _ in queued)
    assert kinds == {"fulfil_order": 9, "deliver": 3, "compare": 3}
    log = verify_log()
    assert (log.first, log.lines) == (None, LogEntry.objects.count())
    assert not +sweep_concurrently()

    run_jobs()
    assert set(Order.objects.values_list("status", flat=True)) == {Status.DELIVERED}
    assert set(Delivery.objects.values_list("state", flat=True)) == {Delivery.State.SENT}
    assert not Verdict.objects.filter(compare_due_at__isnull=False).exists()


def test_a_sweep_that_is_killed_leaves_nothing_half_done(crashed, monkeypatch):
    """A row and its job change in one transaction."""

    def die(*_args, **_kwargs):
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr("verdicts.jobs.queue.enqueue", die)
        with pytest.raises(SystemExit):
            sweep()
    assert not OrmQ.objects.exists()
    found = sweep_concurrently()
    assert (found["events"], found["orders"], found["deliveries"]) == (4, 5, 3)
