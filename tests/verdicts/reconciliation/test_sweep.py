"""The sweep: whatever a crash has left behind, once, however many look for it at a time."""

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

PLACES = 6
LONG_AGO = timedelta(minutes=6)


def everywhere() -> Counter[str]:
    """The sweep in several places at the same moment: what they have found together."""
    together = Barrier(PLACES)

    def one(_: int) -> Counter[str]:
        together.wait()
        try:
            return Counter(sweep())
        finally:
            connections.close_all()

    with ThreadPoolExecutor(PLACES) as places:
        return sum(places.map(one, range(PLACES)), Counter())


@pytest.fixture
def crashed(sandbox, paid_order, missed, ask, settings) -> int:
    """Some of everything, with nobody at it. How many lines are not in the log."""
    disk = FullDevice(settings.ORACLE_LOG_PATH)
    disk.fill()
    for order in [missed("quick") for _ in range(3)]:
        assert ask(order.session_id).status_code == 200  # to be compared
    for _ in range(5):
        paid_order("quick")
    for number in range(4):
        unseen = session_object(
            id=f"cs_test_unseenEvent{number:04}", payment_intent=f"pi_n{number}"
        )
        StripeEvent.objects.create(
            event_id=f"evt_{number}", type="checkout.session.completed", object=json.dumps(unseen)
        )
    disk.free()
    OrmQ.objects.all().delete()
    long_ago = timezone.now() - LONG_AGO
    StripeEvent.objects.update(received_at=long_ago)
    Order.objects.filter(status=Status.PAID).update(due_at=long_ago)
    Delivery.objects.update(state=Delivery.State.SENDING, due_at=long_ago)
    Verdict.objects.filter(kind="regen").update(compare_due_at=long_ago)
    return LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count()


def test_what_a_crash_left_behind_is_taken_up_once_by_many_at_once(crashed, run_jobs):
    assert crashed == 6  # three originals, three regenerations
    found = everywhere()
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
    assert not +everywhere()

    run_jobs()
    assert set(Order.objects.values_list("status", flat=True)) == {Status.DELIVERED}
    assert set(Delivery.objects.values_list("state", flat=True)) == {Delivery.State.SENT}
    assert not Verdict.objects.filter(compare_due_at__isnull=False).exists()


def test_a_sweep_that_dies_leaves_nothing_half_done(crashed, monkeypatch):
    """Each thing is put on its way together with its job, or not at all."""

    def die(*_args, **_more):
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr("verdicts.jobs.queue.enqueue", die)
        with pytest.raises(SystemExit):
            sweep()
    assert not OrmQ.objects.exists()
    found = everywhere()
    assert (found["events"], found["orders"], found["deliveries"]) == (4, 5, 3)
