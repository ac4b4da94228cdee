"""State is never prose: behaviour is the same with every displayed sentence reworded."""

import json
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db.models import Choices
from django_q.models import OrmQ

from tests.support.reconciliation import run_reconcile
from tests.support.restored_database import forget_orders
from verdicts.clients import stripe_account
from verdicts.models import Case, Delivery, Order, Status, StripeEvent, Verdict
from verdicts.payments import refunds
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.payments.stripe_sync import import_from_stripe

pytestmark = pytest.mark.django_db(transaction=True)  # the log follows commits

# Free text that the console shows. No code may depend on its wording.
DISPLAYED = (
    (Order, "reason"),
    (Delivery, "about"),
    (Delivery, "error"),
    (Case, "note"),
)


def reword_rows() -> None:
    for model, field in DISPLAYED:
        model.objects.exclude(**{field: ""}).update(**{field: "reworded"})


def all_choices() -> Iterator[type[Choices]]:
    nested = (model.__dict__.values() for model in apps.get_models())
    for one in [Status, *(value for values in nested for value in values)]:
        if isinstance(one, type) and issubclass(one, Choices):
            yield one


@pytest.fixture(params=["original", "reworded"])
def sentences(request, monkeypatch):
    """Rewords labels and constants; the returned function rewords what is stored so far."""
    if request.param == "original":
        return lambda: None
    for enum in all_choices():
        for member in enum:
            monkeypatch.setattr(member, "_label_", f"reworded {member.value}")
    monkeypatch.setattr(refunds, "REFUNDED_EARLY", "reworded")
    return reword_rows


def event(session_id: str) -> StripeEvent:
    raw = retrieve_session(stripe_account(), session_id)
    number = StripeEvent.objects.count()
    return receive(Event(f"evt_{number}", "checkout.session.completed", raw))


def test_a_recreated_order_is_generated_once_its_payment_is_reported(
    sandbox, elsewhere, run_jobs, sentences
):
    """It was assumed to have been fulfilled by another installation."""
    session_id = elsewhere(age=7200)
    import_from_stripe(session_id, account=stripe_account())
    sentences()
    order = Order.objects.get()
    assert (order.status, order.recovered) == (Status.DELIVERED, "older")
    assert event(session_id).outcome == ""  # before it was processed
    sentences()
    assert StripeEvent.objects.get().outcome == StripeEvent.Outcome.PAID
    run_jobs()
    assert Verdict.objects.count() == 1


def test_an_order_with_a_decision_in_the_log_is_not_generated_again(
    sandbox, bought, run_jobs, sentences
):
    session_id = bought("quick").session_id
    run_jobs()
    forget_orders()
    event(session_id)
    sentences()
    assert Order.objects.get().recovered == "judged"
    event(session_id)
    assert (OrmQ.objects.count(), Verdict.objects.count()) == (0, 0)


def test_a_refund_that_is_reported_before_its_payment_is_applied(paid_order, run_jobs, sentences):
    charge = {"object": "charge", "payment_intent": "pi_1", "amount": 500, "amount_refunded": 500}
    waiting = receive(Event("evt_refund", "charge.refunded", charge))
    sentences()
    waiting.refresh_from_db()
    assert (waiting.outcome, waiting.processed_at) == (StripeEvent.Outcome.UNKNOWN_PAYMENT, None)
    order = paid_order("full")
    sentences()
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.FAILED
    assert Verdict.objects.count() == 0
    assert json.loads(StripeEvent.objects.get().object) == charge


def test_a_refund_that_fails_is_reported_once(paid_order, sentences):
    order = paid_order("quick")
    refund = {"object": "refund", "id": "re_1", "payment_intent": "pi_1", "status": "failed"}
    for number, kind in enumerate(("refund.failed", "charge.refund.updated")):
        assert receive(Event(f"evt_{number}", kind, refund))
    sentences()
    assert order.cases.count() == 1


def test_reconcile_reports_nothing_for_a_payment_that_is_already_recorded(bought, sentences):
    bought("quick")
    sentences()
    report = run_reconcile(apply=True)
    assert report.left == 0
