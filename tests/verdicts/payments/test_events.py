import itertools
import json
from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from tests.support.stripe_objects import charge_object, session_object
from verdicts.models import Delivery, Order, Status, StripeEvent
from verdicts.payments import events, refunds
from verdicts.payments.client import Event
from verdicts.payments.events import process, receive
from verdicts.reconciliation.sweep import sweep

pytestmark = pytest.mark.django_db

SESSION = session_object()["id"]
numbers = itertools.count()


def event(kind: str, obj: dict | None = None, event_id: str = "") -> Event:
    return Event(event_id or f"evt_{next(numbers)}", kind, obj or session_object())


def completed(**changes) -> Event:
    return event("checkout.session.completed", session_object(**changes))


def status() -> str:
    return Order.objects.get(session_id=SESSION).status


def test_a_paid_session_becomes_an_order_and_one_job():
    receive(completed())
    order = Order.objects.get()
    assert order.status == Status.PAID
    assert (order.email, order.query, order.payment_intent) == (
        "buyer@example.com",
        "Should I open a bakery?",
        "pi_123",
    )
    assert [row.task["args"] for row in OrmQ.objects.all()] == [(order.pk,)]


def test_a_replayed_event_buys_one_verdict():
    paid = completed()
    for _ in range(3):
        receive(paid)
    assert StripeEvent.objects.count() == Order.objects.count() == OrmQ.objects.count() == 1


def test_two_events_for_one_payment_buy_one_verdict():
    receive(completed())
    receive(event("checkout.session.async_payment_succeeded"))
    assert OrmQ.objects.count() == 1


def test_a_refund_reported_before_its_payment_prevents_the_verdict(sandbox, run_jobs):
    receive(event("charge.refunded", charge_object()))
    receive(completed())
    run_jobs()
    order = Order.objects.get()
    assert (order.status, order.reason) == (Status.FAILED, refunds.REFUNDED_EARLY)
    assert order.refunded_at
    assert not sandbox.requests("gemini")
    assert [one.kind for one in order.deliveries.all()] == [Delivery.Kind.REFUND]
    assert not StripeEvent.objects.filter(processed_at=None).exists()


def test_an_early_refund_of_another_payment_stays_pending(sandbox, run_jobs):
    receive(event("charge.refunded", charge_object(payment_intent="pi_999")))
    receive(completed())
    run_jobs()
    assert status() == Status.DELIVERED
    assert StripeEvent.objects.filter(processed_at=None).count() == 1


def test_an_event_that_cannot_be_processed_blocks_no_order(sandbox, run_jobs, monkeypatch):
    receive(completed())
    StripeEvent.objects.create(
        event_id="evt_odd", type="charge.refunded", object=json.dumps(charge_object())
    )

    def fail(_raw):
        raise RuntimeError

    monkeypatch.setitem(events.STRIPE_EVENTS, "charge.refunded", fail)
    run_jobs()
    assert status() == Status.DELIVERED
    assert StripeEvent.objects.filter(processed_at=None).count() == 1


EVENTS = {
    "unpaid": lambda: completed(payment_status="unpaid"),
    "succeeded": lambda: event("checkout.session.async_payment_succeeded"),
    "expired": lambda: event("checkout.session.expired", session_object(payment_status="unpaid")),
}


@pytest.mark.parametrize("order", list(itertools.permutations(EVENTS)))
def test_a_payment_wins_in_whatever_order_events_arrive(order):
    for name in order:
        receive(EVENTS[name]())
    assert status() == Status.PAID
    assert OrmQ.objects.count() == 1


def test_a_delayed_payment_is_awaited_and_can_fail():
    receive(completed(payment_status="unpaid"))
    assert status() == Status.AWAITING
    receive(event("checkout.session.async_payment_failed", session_object(payment_status="unpaid")))
    assert status() == Status.PAYMENT_FAILED
    assert not OrmQ.objects.exists()


@pytest.mark.parametrize(
    "change", [{"amount_subtotal": 499}, {"currency": "usd"}, {"amount_subtotal": None}]
)
def test_another_amount_or_currency_is_held_for_staff(change):
    receive(completed(**change))
    order = Order.objects.get()
    assert order.status == Status.HELD
    assert "the price was 500 cad" in order.reason
    assert list(order.deliveries.values_list("kind", flat=True)) == [Delivery.Kind.STAFF]
    jobs = [row.task["func"] for row in OrmQ.objects.all()]
    assert jobs == ["verdicts.tasks.deliver"]


def test_a_discount_on_the_total_is_not_another_price():
    receive(completed(amount_total=0, payment_status="no_payment_required"))
    assert status() == Status.PAID


def test_an_order_whose_session_id_was_never_stored_is_found_by_its_token():
    order = Order.objects.create(tier="full", query="Mine", price_cents=500, currency="cad")
    receive(completed(client_reference_id=str(order.token)))
    assert Order.objects.get().pk == order.pk
    assert status() == Status.PAID


@pytest.mark.parametrize("kind", ["customer.created", "checkout.session.unheard_of"])
def test_of_an_unhandled_event_only_id_and_type_are_stored(kind):
    stored = receive(event(kind, {"id": "x", "email": "buyer@example.com"}, "evt_other"))
    stored.refresh_from_db()
    assert (stored.event_id, stored.type, stored.object) == ("evt_other", kind, "{}")
    assert stored.outcome == StripeEvent.Outcome.NOT_HANDLED
    assert stored.processed_at


@pytest.mark.parametrize("metadata", [{"shop": "other"}, None, {"tier": "gold"}])
def test_a_session_that_is_not_ours_is_ignored(metadata):
    receive(completed(metadata=metadata))
    assert not Order.objects.exists()


def test_an_event_that_failed_stays_and_is_replayed(monkeypatch):
    def fail(session):
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(events, "record_session", fail)
        with pytest.raises(RuntimeError):
            receive(completed())
    stored = StripeEvent.objects.get()
    assert stored.processed_at is None
    assert not Order.objects.exists()
    StripeEvent.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    assert sweep()["events"] == 1
    assert status() == Status.PAID
    assert process(stored) is False


def refund(**changes) -> None:
    receive(event("charge.refunded", charge_object(**changes)))


def test_a_partial_refund_is_recorded_and_changes_nothing_else():
    receive(completed())
    refund(amount_refunded=200, refunded=False)
    order = Order.objects.get()
    assert (order.refunded_cents, order.refunded_at, order.status) == (200, None, Status.PAID)


def test_out_of_order_refund_events_keep_the_largest_amount():
    receive(completed())
    refund(amount_refunded=400)
    refund(amount_refunded=200)
    assert Order.objects.get().refunded_cents == 400


def test_a_full_refund_before_the_verdict_ends_the_order_with_one_email():
    receive(completed())
    refund()
    refund()
    order = Order.objects.get()
    assert order.refunded_at
    assert order.status == Status.FAILED
    assert [d.kind for d in order.deliveries.all()] == [Delivery.Kind.REFUND]


@pytest.mark.parametrize("amount", [500, 400])
def test_a_refund_that_arrives_before_its_payment_waits_for_it(amount):
    refund()
    receive(completed(amount_subtotal=amount))
    assert Order.objects.get().refunded_at is None
    StripeEvent.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    assert sweep()["events"] == 1
    order = Order.objects.get()
    assert order.refunded_cents == 500
    assert order.refunded_at
    assert sweep()["events"] == 0


def test_a_pending_refund_expires_after_three_days():
    refund()
    assert StripeEvent.objects.get().processed_at is None
    StripeEvent.objects.update(received_at=timezone.now() - timedelta(days=4))
    assert sweep()["events"] == 1
    assert StripeEvent.objects.get().processed_at


def test_a_session_created_here_needs_no_metadata():
    order = Order.objects.create(
        tier="full", query="Mine", price_cents=500, currency="cad", session_id=SESSION
    )
    receive(completed(metadata=None))
    order.refresh_from_db()
    assert (order.status, order.query) == (Status.PAID, "Mine")


def test_a_payment_without_a_query_that_can_be_judged_is_held_for_staff():
    receive(completed(metadata={"tier": "full", "query_0": "\x07"}))
    order = Order.objects.get()
    assert order.status == Status.HELD
    assert "no query" in order.reason


@pytest.mark.parametrize("amount", [2**31, 2**70, -1, 0, True, "500"])
def test_a_malformed_refund_changes_nothing(amount):
    receive(completed())
    refund(amount_refunded=amount, amount=amount)
    assert Order.objects.get().refunded_cents == 0


def test_a_refund_of_another_payment_is_ignored():
    receive(completed())
    refund(payment_intent="pi_other")
    refund(payment_intent=None)
    assert Order.objects.get().refunded_cents == 0


def test_odd_text_in_an_event_is_stored():
    odd = charge_object(description="\0 \ud800")
    receive(event("charge.refunded", odd))
    assert json.loads(StripeEvent.objects.get().object) == odd


@pytest.mark.parametrize("kind", ["checkout.session.completed", "checkout.session.expired"])
def test_no_personal_data_is_stored_of_a_session_that_is_not_ours(kind):
    receive(event(kind, session_object(metadata={})))
    stored = StripeEvent.objects.get()
    assert stored.outcome == StripeEvent.Outcome.NOT_OURS
    assert "buyer@example.com" not in stored.object
    assert json.loads(stored.object)["id"] == SESSION


def test_personal_data_of_another_sites_refund_is_redacted_when_it_expires():
    charge = {**charge_object(), "billing_details": {"email": "buyer@example.com"}}
    receive(event("charge.refunded", charge))
    stored = StripeEvent.objects.get()
    assert "buyer@example.com" in stored.object  # its payment may still be reported
    StripeEvent.objects.update(received_at=timezone.now() - timedelta(days=4))
    stored.refresh_from_db()
    assert process(stored)
    stored.refresh_from_db()
    assert stored.outcome == StripeEvent.Outcome.UNKNOWN_PAYMENT
    assert "buyer@example.com" not in stored.object
