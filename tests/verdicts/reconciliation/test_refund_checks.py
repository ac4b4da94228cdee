import pytest

from tests.support.reconciliation import discrepancies, repairs, run_reconcile
from verdicts.models import Case, Delivery, Order, Status
from verdicts.payments.client import Event
from verdicts.payments.events import receive
from verdicts.privacy.erase import erase

pytestmark = pytest.mark.django_db


@pytest.fixture
def bought(sandbox, elsewhere, run_jobs) -> str:
    session_id = elsewhere(180)
    run_reconcile(apply=True)
    run_jobs()
    return session_id


def test_an_unrecorded_refund_is_recorded_once(sandbox, bought, run_jobs):
    sandbox.refund(bought)
    assert discrepancies(run_reconcile()) == [
        ("refund", "CA$5.00 refunded at Stripe, CA$0.00 of it recorded here")
    ]
    assert repairs(run_reconcile(apply=True)) == ["recorded as refunded"]
    order = Order.objects.get()
    assert (order.status, order.refunded_cents) == (Status.DELIVERED, 500)
    assert order.refunded_at
    run_jobs()
    assert [one["subject"] for one in sandbox.messages()][-1].endswith("payment was refunded")
    assert discrepancies(run_reconcile(apply=True)) == []
    assert Delivery.objects.filter(kind="refund").count() == 1


def test_a_partial_refund_is_recorded_and_the_rest_later(sandbox, bought):
    sandbox.refund(bought, amount=200)
    assert repairs(run_reconcile(apply=True)) == ["recorded as refunded in part"]
    assert discrepancies(run_reconcile()) == []
    sandbox.refund(bought)
    assert discrepancies(run_reconcile()) == [
        ("refund", "CA$5.00 refunded at Stripe, CA$2.00 of it recorded here")
    ]
    run_reconcile(apply=True)
    assert Order.objects.get().refunded_cents == 500


def test_a_refund_that_failed_later_is_left_for_staff(sandbox, bought):
    sandbox.refund(bought)
    run_reconcile(apply=True)
    sandbox.fail_refund(bought)
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [
        ("refund", "CA$0.00 refunded at Stripe, but CA$5.00 recorded here: a refund has failed")
    ]
    assert (report.left, report.findings[0].discrepancy.remedy[:15]) == (1, "refund it anoth")
    sandbox.refund(bought)
    assert discrepancies(run_reconcile(apply=True)) == []


def test_staff_are_notified_once_of_a_failed_refund(sandbox, bought, run_jobs):
    sandbox.refund(bought)
    run_reconcile(apply=True)
    run_jobs()
    failed = sandbox.fail_refund(bought)
    for kind in ("refund.failed", "charge.refund.updated"):
        stored = receive(Event(f"evt_{kind}", kind, failed))
        stored.refresh_from_db()
        assert stored.outcome == "refund_failed"
    (case,) = Case.objects.all()
    assert (case.kind, case.order.session_id) == ("failed", bought)
    assert case.order.reason.startswith(f"refund {failed['id']} failed at Stripe")
    run_jobs()
    (message,) = sandbox.messages(to="staff@oracle.example")
    assert "the customer was not paid back" in message["text"]


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"status": "pending"}, "refund_in_progress"),
        ({"payment_intent": "pi_other"}, "unknown_payment"),
        ({"payment_intent": None}, "no_payment_named"),
    ],
)
def test_other_refund_updates_open_no_case(sandbox, bought, changes, outcome):
    sandbox.refund(bought)
    run_reconcile(apply=True)
    failed = {**sandbox.fail_refund(bought), **changes}
    stored = receive(Event("evt_1", "charge.refund.updated", failed))
    stored.refresh_from_db()
    assert stored.outcome == outcome
    assert not Case.objects.exists()


def test_a_refund_of_another_sites_payment_is_no_discrepancy(sandbox, elsewhere):
    sandbox.refund(elsewhere(180, metadata={}))
    assert discrepancies(run_reconcile()) == []


def test_a_refund_of_an_erased_order_is_recorded_without_an_email(sandbox, bought, run_jobs):
    erase(Order.objects.get(), who="Ada", reason="asked")
    sandbox.refund(bought)
    assert repairs(run_reconcile(apply=True)) == ["recorded as refunded"]
    order = Order.objects.get()
    assert (order.status, order.email, order.refunded_cents) == (Status.ERASED, "", 500)
    assert run_jobs() == []
    assert discrepancies(run_reconcile(apply=True)) == []
