"""Refunds, idempotency keys and events, through the stripe library."""

import pytest
import stripe

from sandbox.client import ControlError
from tests.support.stripe_requests import checkout, order


@pytest.fixture
def paid(sandbox, shop):
    session = checkout(shop)
    sandbox.pay(session.id)
    return shop.v1.checkout.sessions.retrieve(session.id)


def test_a_full_refund_sends_an_event(sandbox, shop, receiver, paid):
    refund = shop.v1.refunds.create({"payment_intent": paid.payment_intent})
    assert (refund.amount, refund.currency, refund.status) == (500, "cad", "succeeded")
    assert shop.v1.refunds.retrieve(refund.id).to_dict() == refund.to_dict()
    sandbox.wait_for_webhooks()
    event = next(each for each in receiver.events() if each.type == "charge.refunded")
    charge = event.data.object
    assert (charge.payment_intent, charge.refunded) == (paid.payment_intent, True)
    assert charge.amount_refunded == 500


def test_partial_refunds_cannot_exceed_the_payment(sandbox, shop, receiver, paid):
    intent = paid.payment_intent
    shop.v1.refunds.create({"payment_intent": intent, "amount": 200})
    with pytest.raises(stripe.InvalidRequestError):
        shop.v1.refunds.create({"payment_intent": intent, "amount": 301})
    shop.v1.refunds.create({"payment_intent": intent})
    with pytest.raises(stripe.InvalidRequestError) as caught:
        shop.v1.refunds.create({"payment_intent": intent})
    assert caught.value.code == "charge_already_refunded"
    sandbox.wait_for_webhooks()
    charges = [e.data.object for e in receiver.events() if e.type == "charge.refunded"]
    amounts = {charge.amount_refunded: charge.refunded for charge in charges}
    assert amounts == {200: False, 500: True}


def test_a_dashboard_refund_looks_the_same(sandbox, shop, paid):
    sandbox.refund(paid.id, amount=100)
    (refund,) = shop.v1.refunds.list({"payment_intent": paid.payment_intent}).data
    assert refund.amount == 100


def test_a_dashboard_refund_returns_its_event_id(sandbox, paid):
    named = [sandbox.refund(paid.id, amount=cents)["event_id"] for cents in (100, 150)]
    kinds = {event["id"]: event["type"] for event in sandbox.events()}
    assert [kinds[one] for one in named] == ["charge.refunded"] * 2
    assert len(set(named)) == 2


def test_a_list_of_refunds_can_expand_their_charges(sandbox, shop, paid):
    sandbox.refund(paid.id, amount=100)
    sandbox.refund(paid.id, amount=150)
    found = shop.v1.refunds.list({"expand": ["data.charge"], "created": {"gte": 1_000}}).data
    assert [refund.amount for refund in found] == [150, 100]
    assert [refund.charge.amount_refunded for refund in found] == [250, 250]
    assert found[0].charge.payment_intent == paid.payment_intent
    with pytest.raises(stripe.InvalidRequestError, match="cannot be expanded"):
        shop.v1.refunds.list({"expand": ["data.colour"]})


@pytest.mark.parametrize("params", [{}, {"payment_intent": "pi_nobody"}, {"charge": "ch_nobody"}])
def test_an_invalid_refund_is_rejected(shop, params):
    with pytest.raises(stripe.InvalidRequestError):
        shop.v1.refunds.create(params)


def test_an_unsettled_payment_cannot_be_refunded(sandbox, shop):
    session = checkout(shop)
    sandbox.pay(session.id, method="delayed")
    waiting = shop.v1.checkout.sessions.retrieve(session.id)
    with pytest.raises(stripe.InvalidRequestError):
        shop.v1.refunds.create({"payment_intent": waiting.payment_intent})


def test_the_same_idempotency_key_repeats_the_response(sandbox, shop):
    options = {"idempotency_key": "order-1"}
    first = shop.v1.checkout.sessions.create(order(), options)
    again = shop.v1.checkout.sessions.create(order(), options)
    assert again.id == first.id
    assert len(sandbox.sessions()) == 1
    assert again.last_response.headers["idempotent-replayed"] == "true"


def test_the_same_idempotency_key_with_another_request_is_rejected(shop):
    options = {"idempotency_key": "order-1"}
    shop.v1.checkout.sessions.create(order(), options)
    with pytest.raises(stripe.IdempotencyError) as caught:
        shop.v1.checkout.sessions.create(order(metadata={"tier": "quick"}), options)
    assert caught.value.http_status == 400


def test_one_idempotency_key_makes_one_refund(shop, paid):
    params = {"payment_intent": paid.payment_intent, "amount": 100}
    for _ in range(3):
        shop.v1.refunds.create(params, {"idempotency_key": "refund-1"})
    assert len(shop.v1.refunds.list({"payment_intent": paid.payment_intent}).data) == 1


def test_events_can_be_listed_and_retrieved(shop, paid):
    listed = shop.v1.events.list({"type": "checkout.session.completed"}).data
    assert [event.data.object.id for event in listed] == [paid.id]
    assert shop.v1.events.retrieve(listed[0].id).type == "checkout.session.completed"


def test_a_refund_that_fails_later_sends_two_events(sandbox, shop, receiver, paid):
    made = shop.v1.refunds.create({"payment_intent": paid.payment_intent})
    failed = sandbox.fail_refund(paid.id)
    assert (failed["id"], failed["status"]) == (made.id, "failed")
    assert shop.v1.refunds.retrieve(made.id).status == "failed"
    sandbox.wait_for_webhooks()
    told = {e.type: e.data.object for e in receiver.events() if "refund." in e.type}
    assert set(told) == {"refund.failed", "charge.refund.updated"}
    assert {one.payment_intent for one in told.values()} == {paid.payment_intent}
    with pytest.raises(ControlError, match="no refund that could fail"):
        sandbox.fail_refund(paid.id)
    shop.v1.refunds.create({"payment_intent": paid.payment_intent})  # possible again
