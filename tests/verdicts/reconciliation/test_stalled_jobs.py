from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from tests.support.reconciliation import discrepancies, kinds, repairs, run_reconcile
from tests.support.stripe_objects import charge_object, session_object
from verdicts.jobs import queue
from verdicts.mail.outbox import deliver, enqueue_email
from verdicts.models import Case, Delivery, Order, Status, StripeEvent, Verdict
from verdicts.payments.client import Event
from verdicts.payments.events import receive
from verdicts.privacy.erase import erase
from verdicts.reconciliation.discrepancies import ALREADY_REPAIRED

pytestmark = pytest.mark.django_db

OVERDUE = timedelta(minutes=6)


@pytest.mark.parametrize("status", ["paid", "generating"])
def test_a_lost_generation_job_is_requeued_once(sandbox, paid_order, run_jobs, status):
    order = paid_order()
    OrmQ.objects.all().delete()
    assert discrepancies(run_reconcile()) == []  # not overdue yet
    Order.objects.update(due_at=timezone.now() - OVERDUE, status=status)
    ((kind, description),) = discrepancies(run_reconcile())
    assert kind == "lost job"
    assert description.endswith("not being processed")
    assert OrmQ.objects.count() == 0
    assert repairs(run_reconcile(apply=True)) == ["requeued"]
    assert discrepancies(run_reconcile(apply=True)) == []
    assert OrmQ.objects.count() == 1
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED


def test_a_lost_email_job_is_requeued(sandbox, paid_order, run_jobs):
    paid_order()
    run_jobs()
    Delivery.objects.update(state="sending", due_at=timezone.now() - OVERDUE)
    assert repairs(run_reconcile(apply=True)) == ["requeued"]
    run_jobs()
    assert Delivery.objects.get().state == "sent"


def test_a_lost_comparison_job_is_requeued(missed, ask, run_jobs):
    order = missed()
    ask(order.session_id)
    OrmQ.objects.all().delete()
    Verdict.objects.filter(kind="regen").update(compare_due_at=timezone.now() - OVERDUE)
    report = run_reconcile(apply=True)
    assert kinds(report) == ["lost job"]
    assert "comparison, due" in report.findings[0].discrepancy.description
    assert len(run_jobs()) == 1
    assert discrepancies(run_reconcile()) == []


def test_an_unprocessed_event_is_processed(sandbox):
    receive(Event("evt_1", "checkout.session.completed", session_object()))
    StripeEvent.objects.update(processed_at=None, received_at=timezone.now() - OVERDUE)
    report = run_reconcile(apply=True)
    assert kinds(report) == ["event"]
    assert "checkout.session.completed evt_1" in report.findings[0].discrepancy.description
    assert repairs(report) == ["already paid"]
    assert StripeEvent.objects.get().processed_at
    assert discrepancies(run_reconcile()) == []


def test_an_event_that_cannot_be_processed_stays_a_discrepancy(sandbox):
    StripeEvent.objects.create(event_id="evt_1", type="charge.refunded", object="no JSON")
    StripeEvent.objects.update(received_at=timezone.now() - OVERDUE)
    report = run_reconcile(apply=True)
    assert repairs(report) == ["!failed, see the service log"]
    assert report.left == 1


def test_a_refund_of_an_unknown_payment_waits_once_it_was_processed(sandbox):
    receive(Event("evt_1", "charge.refunded", charge_object()))
    StripeEvent.objects.update(received_at=timezone.now() - OVERDUE, outcome="")
    assert repairs(run_reconcile(apply=True)) == ["waiting for its payment's event"]
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_refund_that_waits_for_its_payment_is_no_discrepancy(sandbox):
    receive(Event("evt_1", "charge.refunded", charge_object()))
    StripeEvent.objects.update(received_at=timezone.now() - OVERDUE)
    assert discrepancies(run_reconcile()) == []


@pytest.fixture
def unsent(sandbox, paid_order, run_jobs) -> Delivery:
    """A verdict email that was given up on."""
    sandbox.fault("graph", "error", times=8, match="sendMail")
    paid_order()
    run_jobs(now=True)
    delivery = Delivery.objects.get(kind="verdict")
    assert delivery.state == "failed"
    return delivery


def test_a_failed_email_is_a_discrepancy_until_its_case_is_closed(unsent):
    case = Case.objects.get()
    report = run_reconcile(apply=True)
    assert kinds(report) == ["email not sent"]
    discrepancy = report.findings[0].discrepancy
    assert discrepancy.remedy.endswith(f"/admin/verdicts/case/{case.pk}/change/")
    assert (discrepancy.order_id, report.left) == (unsent.order_id, 1)
    Case.objects.update(closed_at=timezone.now())
    assert discrepancies(run_reconcile()) == []


def test_a_failed_email_without_a_case_gets_one_and_staff_are_notified(unsent):
    Case.objects.all().delete()
    Delivery.objects.filter(kind="staff").delete()
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [("no case", "verdict email without a case: failed")]
    assert Case.objects.get().delivery == unsent
    assert Delivery.objects.get(kind="staff").about.startswith("verdict email failed")
    assert kinds(run_reconcile(apply=True)) == ["email not sent"]
    assert Case.objects.count() == 1


def test_an_unsent_email_of_an_erased_order_is_no_discrepancy(delivered):
    order = delivered()
    enqueue_email(order, Delivery.Kind.DIVERGENCE, name="late")
    erase(order, who="Ada", reason="asked")
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent", "failed"}
    assert discrepancies(run_reconcile()) == []


def test_a_failed_email_to_staff_is_no_discrepancy(delivered):
    email = enqueue_email(delivered(), Delivery.Kind.STAFF, name="x")
    Delivery.objects.filter(pk=email.pk).update(state="failed", due_at=None)
    assert deliver(email.pk, send=lambda _: None) is None
    assert discrepancies(run_reconcile()) == []


def test_a_rejected_order_without_its_case_gets_one(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "contradictory")
    order = paid_order()
    run_jobs()
    assert discrepancies(run_reconcile()) == []
    check = Case.objects.get().crosscheck
    Case.objects.all().delete()
    assert discrepancies(run_reconcile(apply=True)) == [
        ("no case", "order without a case: rejected by the gate")
    ]
    case = Case.objects.get()
    assert (case.kind, case.order_id, case.crosscheck) == ("rejected", order.pk, check)
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_smoke_test_leaves_no_discrepancies(unsent):
    """Neither its order nor its email has a case."""
    Case.objects.all().delete()
    Order.objects.update(smoke=True)
    assert discrepancies(run_reconcile()) == []
    Order.objects.update(status="rejected")
    assert discrepancies(run_reconcile()) == []


def test_rows_that_have_changed_since_they_were_found_are_not_repaired(sandbox, paid_order, unsent):
    order = paid_order()
    Order.objects.filter(pk=order.pk).update(status="failed", due_at=None)
    Case.objects.all().delete()
    found = [one.discrepancy for one in run_reconcile().findings]
    assert [discrepancy.kind for discrepancy in found] == ["no case", "no case"]
    Order.objects.filter(pk=order.pk).update(status="paid", due_at=timezone.now())
    Delivery.objects.filter(pk=unsent.pk).update(state="pending", due_at=timezone.now())
    assert [discrepancy.repair() for discrepancy in found] == [ALREADY_REPAIRED] * 2
    assert not Case.objects.exists()


@pytest.mark.parametrize("status", ["failed", "held"])
def test_an_order_that_staff_must_decide_gets_a_case(sandbox, paid_order, status):
    paid_order()
    Order.objects.update(status=status, due_at=None, reason="some reason")
    assert kinds(run_reconcile(apply=True)) == ["no case"]
    assert Case.objects.get().kind == status
    assert kinds(run_reconcile()) == (["held"] if status == "held" else [])


def test_a_refunded_order_needs_no_case(sandbox, paid_order):
    paid_order()
    Order.objects.update(status="failed", due_at=None, refunded_at=timezone.now())
    assert discrepancies(run_reconcile()) == []


def test_a_queue_without_workers_is_reported(sandbox):
    assert run_reconcile().idle_queues == []
    queue.enqueue(queue.FULFIL, 1, delay=-300)
    assert run_reconcile().idle_queues == ["generate"]
