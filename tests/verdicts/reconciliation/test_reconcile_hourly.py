from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.utils import timezone
from django_q.models import OrmQ

from audit.core.redaction import short_hash
from audit.models import DayCount
from tests.support.service_log import listening
from verdicts import tasks
from verdicts.models import Delivery, Order, Reconciled, Status
from verdicts.reconciliation import reconcile_hourly

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def last_run(**ago: float) -> None:
    Reconciled.objects.update_or_create(
        pk=1, defaults={"looked_at": timezone.now() - timedelta(**ago)}
    )


def test_a_missed_webhook_is_repaired_without_staff(sandbox, elsewhere, run_jobs):
    elsewhere(180)
    assert tasks.reconcile() == "1 repaired, 0 left"
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert tasks.reconcile() == "0 repaired, 0 left"


@pytest.mark.usefixtures("open_for_long")
@pytest.mark.parametrize(
    ("last", "age", "found"),
    [({"hours": 1}, 25.5, 1), ({"hours": 1}, 26.5, 0), ({"days": 20}, 20 * 24, 1)],
)
def test_a_run_begins_25_hours_before_the_last_completed_one(sandbox, elsewhere, last, age, found):
    last_run(**last)
    elsewhere(age * 3600)
    tasks.reconcile()
    assert Order.objects.count() == found
    assert Reconciled.objects.get().looked_at > timezone.now() - timedelta(minutes=1)


def test_incomplete_runs_are_counted_and_alert_staff_after_hours(sandbox, paid_order, run_jobs):
    order = paid_order()
    OrmQ.objects.all().delete()
    last_run(hours=5)
    sandbox.fault("stripe", "unavailable", times=None)
    assert tasks.reconcile() == "0 repaired, 0 left, incomplete"
    assert DayCount.objects.get(name="unreconciled").count == 1
    assert run_jobs() == []
    last_run(hours=7)
    tasks.reconcile()
    tasks.reconcile()
    delivery = Delivery.objects.get()
    assert (delivery.kind, delivery.order) == ("unreconciled", order)
    run_jobs()
    (message,) = sandbox.messages(to="staff@oracle.example")
    assert message["subject"].endswith("Oracle: Stripe's records and ours disagree")
    for body in (message["text"], message["html"]):
        assert "Stripe is unreachable" in body
        assert "buyer@example.com" not in body
    sandbox.clear_faults()
    tasks.reconcile()
    assert Reconciled.objects.get().looked_at > timezone.now() - timedelta(minutes=1)


def test_a_payment_that_could_not_be_recorded_is_found_by_the_next_run(sandbox, elsewhere):
    last_run(hours=1)
    before = Reconciled.objects.get().looked_at
    elsewhere(300)

    def refuse(execute, sql, parameters, *more):
        if sql.startswith('INSERT INTO "verdicts_order"'):
            raise DatabaseError("no room")
        return execute(sql, parameters, *more)

    with connection.execute_wrapper(refuse):
        assert tasks.reconcile() == "0 repaired, 1 left"
    assert Reconciled.objects.get().looked_at == before
    assert DayCount.objects.get(name="gaps left").count == 1
    assert tasks.reconcile() == "1 repaired, 0 left"
    assert Reconciled.objects.get().looked_at > before
    assert DayCount.objects.get(name="gaps left").count == 0


def test_staff_are_alerted_once_a_day_about_discrepancies_without_a_case(
    sandbox, elsewhere, paid_order, run_jobs
):
    order = paid_order()
    session_id = order.session_id
    Order.objects.update(status="awaiting", created_at=timezone.now() - timedelta(days=40))
    OrmQ.objects.all().delete()
    with listening() as lines:
        tasks.reconcile()
    (line,) = [
        one for one in lines if one["message"] == "discrepancy left for staff: payment awaited"
    ]
    assert (line["level"], line["session"]) == ("WARNING", short_hash(session_id))
    tasks.reconcile()
    run_jobs()
    (message,) = sandbox.messages(to="staff@oracle.example")
    assert message["subject"].endswith("Oracle: Stripe's records and ours disagree")
    for body in (message["text"], message["html"]):
        assert "Discrepancies left for staff: payment awaited (1)" in body


def test_a_discrepancy_with_a_case_causes_no_further_alert(sandbox, elsewhere, run_jobs):
    elsewhere(300, amount_subtotal=100)
    assert tasks.reconcile() == "0 repaired, 1 left"
    assert tasks.reconcile() == "0 repaired, 1 left"
    run_jobs()
    (message,) = sandbox.messages(to="staff@oracle.example")
    assert message["subject"].endswith("Oracle: an order needs review")
    assert DayCount.objects.get(name="gaps left").count == 0


def test_an_outage_before_the_first_order_causes_no_alert(sandbox):
    sandbox.fault("stripe", "unavailable", times=None)
    tasks.reconcile()
    assert not Delivery.objects.exists()


def test_a_run_that_exceeds_its_time_limit_is_continued_at_once(
    sandbox, elsewhere, monkeypatch, run_jobs
):
    for _ in range(150):
        elsewhere(180)
    last_run(hours=1)
    monkeypatch.setattr(reconcile_hourly, "TIME_LIMIT", 5.0)
    sandbox.fault("stripe", "dribble", match="starting_after")  # the second page never ends
    assert tasks.reconcile() == "100 repaired, 0 left, incomplete"
    monkeypatch.undo()
    sandbox.clear_faults()  # on a busy machine the second page may not have been requested
    assert OrmQ.objects.filter(key="post").count() == 1
    OrmQ.objects.filter(key="generate").delete()
    run_jobs()
    assert Order.objects.count() == 150
