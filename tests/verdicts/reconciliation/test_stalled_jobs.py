from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from tests.support.reconciliation import discrepancies, done, kinds, look
from tests.support.stripe_objects import charge_object, session_object
from verdicts.jobs import queue
from verdicts.mail.outbox import deliver, enqueue_email
from verdicts.models import Case, Delivery, Order, Status, StripeEvent, Verdict
from verdicts.payments.client import Event
from verdicts.payments.events import receive
from verdicts.privacy.erase import erase

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(minutes=6)


@pytest.mark.parametrize("status", ["paid", "generating"])
def test_a_lost_job_is_queued_again_once(sandbox, paid_order, run_jobs, status):
    order = paid_order()
    OrmQ.objects.all().delete()
    assert discrepancies(look()) == []  # it might still come
    Order.objects.update(due_at=timezone.now() - LONG_AGO, status=status)
    ((kind, what),) = discrepancies(look())
    assert kind == "lost job"
    assert what.endswith("nobody is at it")
    assert OrmQ.objects.count() == 0
    assert done(look(apply=True)) == ["queued again"]
    assert discrepancies(look(apply=True)) == []
    assert OrmQ.objects.count() == 1
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED


def test_a_lost_email_is_queued_again(sandbox, paid_order, run_jobs):
    paid_order()
    run_jobs()
    Delivery.objects.update(state="sending", due_at=timezone.now() - LONG_AGO)
    assert done(look(apply=True)) == ["queued again"]
    run_jobs()
    assert Delivery.objects.get().state == "sent"


def test_a_lost_comparison_is_queued_again(missed, ask, run_jobs):
    order = missed()
    ask(order.session_id)
    OrmQ.objects.all().delete()
    Verdict.objects.filter(kind="regen").update(compare_due_at=timezone.now() - LONG_AGO)
    report = look(apply=True)
    assert kinds(report) == ["lost job"]
    assert "to be compared" in report.findings[0].discrepancy.what
    assert len(run_jobs()) == 1
    assert discrepancies(look()) == []


def test_an_event_that_was_not_acted_on_is(sandbox):
    receive(Event("evt_1", "checkout.session.completed", session_object()))
    StripeEvent.objects.update(processed_at=None, received_at=timezone.now() - LONG_AGO)
    report = look(apply=True)
    assert kinds(report) == ["event"]
    assert "checkout.session.completed evt_1" in report.findings[0].discrepancy.what
    assert done(report) == ["already paid"]
    assert StripeEvent.objects.get().processed_at
    assert discrepancies(look()) == []


def test_an_event_that_cannot_be_acted_on_stays_a_discrepancy(sandbox):
    StripeEvent.objects.create(event_id="evt_1", type="charge.refunded", object="no JSON")
    StripeEvent.objects.update(received_at=timezone.now() - LONG_AGO)
    report = look(apply=True)
    assert done(report) == ["!it failed: see the service log"]
    assert report.left == 1


def test_a_refund_whose_payment_is_not_ours_waits_once_it_was_acted_on(sandbox):
    receive(Event("evt_1", "charge.refunded", charge_object()))
    StripeEvent.objects.update(received_at=timezone.now() - LONG_AGO, outcome="")
    assert done(look(apply=True)) == ["it waits for its payment"]
    assert discrepancies(look(apply=True)) == []


def test_a_refund_that_waits_for_its_payment_is_no_discrepancy(sandbox):
    receive(Event("evt_1", "charge.refunded", charge_object()))
    StripeEvent.objects.update(received_at=timezone.now() - LONG_AGO)
    assert discrepancies(look()) == []


@pytest.fixture
def unsent(sandbox, paid_order, run_jobs) -> Delivery:
    """A verdict email that was given up."""
    sandbox.fault("graph", "error", times=8, match="sendMail")
    paid_order()
    run_jobs(now=True)
    delivery = Delivery.objects.get(kind="verdict")
    assert delivery.state == "failed"
    return delivery


def test_an_email_that_was_given_up_is_a_gap_until_its_case_is_closed(unsent):
    case = Case.objects.get()
    report = look(apply=True)
    assert kinds(report) == ["email not sent"]
    discrepancy = report.findings[0].discrepancy
    assert discrepancy.remedy.endswith(f"/admin/verdicts/case/{case.pk}/change/")
    assert (discrepancy.order_id, report.left) == (unsent.order_id, 1)
    Case.objects.update(closed_at=timezone.now())
    assert discrepancies(look()) == []


def test_an_email_without_a_case_gets_one_and_staff_are_told(unsent):
    Case.objects.all().delete()
    Delivery.objects.filter(kind="staff").delete()
    report = look(apply=True)
    assert discrepancies(report) == [("no case", "verdict email is failed, no case")]
    assert Case.objects.get().delivery == unsent
    assert Delivery.objects.get(kind="staff").about.startswith("the verdict email is failed")
    assert kinds(look(apply=True)) == ["email not sent"]
    assert Case.objects.count() == 1


def test_what_was_not_sent_to_the_erased_is_no_discrepancy(delivered):
    order = delivered()
    enqueue_email(order, Delivery.Kind.DIVERGENCE, name="late")
    erase(order, who="Ada", reason="asked")
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent", "failed"}
    assert discrepancies(look()) == []


def test_an_email_to_staff_that_was_given_up_is_no_customers_discrepancy(delivered):
    owed = enqueue_email(delivered(), Delivery.Kind.STAFF, name="x")
    Delivery.objects.filter(pk=owed.pk).update(state="failed", due_at=None)
    assert deliver(owed.pk, send=lambda _: None) is None
    assert discrepancies(look()) == []


def test_a_rejected_order_with_its_case_is_no_gap_and_without_gets_one(
    sandbox, paid_order, run_jobs
):
    sandbox.fault("gemini", "contradictory")
    order = paid_order()
    run_jobs()
    assert discrepancies(look()) == []
    check = Case.objects.get().crosscheck
    Case.objects.all().delete()
    assert discrepancies(look(apply=True)) == [("no case", "rejected by the gate, and no case")]
    case = Case.objects.get()
    assert (case.kind, case.order_id, case.crosscheck) == ("rejected", order.pk, check)
    assert discrepancies(look(apply=True)) == []


def test_a_smoke_test_leaves_no_discrepancies(unsent):
    """Nobody waits for it, so neither its order nor its email has a case."""
    Case.objects.all().delete()
    Order.objects.update(smoke=True)
    assert discrepancies(look()) == []
    Order.objects.update(status="rejected")
    assert discrepancies(look()) == []


def test_what_has_moved_on_since_it_was_found_is_left_alone(sandbox, paid_order, unsent):
    order = paid_order()
    Order.objects.filter(pk=order.pk).update(status="failed", due_at=None)
    Case.objects.all().delete()
    found = [one.discrepancy for one in look().findings]
    assert [discrepancy.kind for discrepancy in found] == ["no case", "no case"]
    Order.objects.filter(pk=order.pk).update(status="paid", due_at=timezone.now())
    Delivery.objects.filter(pk=unsent.pk).update(state="pending", due_at=timezone.now())
    assert {discrepancy.repair().how for discrepancy in found} == {"somebody else was faster"}
    assert not Case.objects.exists()


@pytest.mark.parametrize("status", ["failed", "held"])
def test_what_waits_for_a_person_without_a_case_gets_one(sandbox, paid_order, status):
    paid_order()
    Order.objects.update(status=status, due_at=None, reason="why ever")
    assert kinds(look(apply=True)) == ["no case"]
    assert Case.objects.get().kind == status
    assert kinds(look()) == (["held"] if status == "held" else [])


def test_an_order_that_was_paid_back_needs_no_case(sandbox, paid_order):
    paid_order()
    Order.objects.update(status="failed", due_at=None, refunded_at=timezone.now())
    assert discrepancies(look()) == []


def test_a_queue_that_nobody_works_on_is_named(sandbox):
    assert look().idle == []
    queue.enqueue(queue.FULFIL, 1, delay=-300)
    assert look().idle == ["generate"]
