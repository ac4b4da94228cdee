"""Webhooks: signed, retried until accepted, and by faults late, duplicate or out of order."""

import time
from pathlib import Path

import pytest
import stripe

from sandbox.client import ControlError
from sandbox.faults import KNOWN
from tests.support.stripe_requests import checkout


def wait_until(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def test_a_payment_sends_a_signed_event(sandbox, shop, receiver):
    session = checkout(shop)
    sandbox.pay(session.id, email="bob@example.com")
    sandbox.wait_for_webhooks()
    (event,) = receiver.events()
    assert event.type == "checkout.session.completed"
    assert event.id.startswith("evt_")
    assert event.object == "event"
    assert event.livemode is False
    paid = event.data.object
    assert (paid.id, paid.status, paid.payment_status) == (session.id, "complete", "paid")
    assert paid.payment_intent.startswith("pi_")
    assert paid.customer_details.email == "bob@example.com"
    assert paid.url is None
    assert paid.metadata["tier"] == "full"


def test_the_signature_uses_the_configured_secret(sandbox, shop, receiver):
    sandbox.settings(webhook_secret="whsec_other")
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    assert receiver.events("whsec_other")
    with pytest.raises(stripe.SignatureVerificationError):
        receiver.events()


def test_a_delivery_is_retried_until_accepted(sandbox, shop, receiver):
    receiver.statuses = [500, 503]
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    assert len({payload for payload, _ in receiver.deliveries}) == 1
    assert len(receiver.deliveries) == 3
    (event,) = sandbox.events()
    assert [each["result"] for each in event["deliveries"]] == [500, 503, 200]


def test_an_unreachable_receiver_is_retried(sandbox, shop, receiver):
    sandbox.settings(webhook_url="http://127.0.0.1:9/")
    sandbox.pay(checkout(shop).id)
    wait_until(lambda: sandbox.events()[0]["deliveries"])
    sandbox.settings(webhook_url=receiver.url)
    sandbox.wait_for_webhooks()
    assert receiver.types() == ["checkout.session.completed"]


@pytest.mark.parametrize("succeeded", [True, False])
def test_a_delayed_payment_completes_unpaid_and_is_settled_later(
    sandbox, shop, receiver, succeeded
):
    session = checkout(shop)
    sandbox.pay(session.id, method="delayed")
    sandbox.wait_for_webhooks()
    assert receiver.events()[0].data.object.payment_status == "unpaid"
    sandbox.settle(session.id, succeeded=succeeded)
    sandbox.wait_for_webhooks()
    event = receiver.events()[1]
    outcome = "succeeded" if succeeded else "failed"
    assert event.type == f"checkout.session.async_payment_{outcome}"
    assert event.data.object.payment_status == ("paid" if succeeded else "unpaid")
    with pytest.raises(ControlError):
        sandbox.settle(session.id)


def test_a_session_is_paid_once(sandbox, shop):
    session = checkout(shop)
    sandbox.pay(session.id)
    with pytest.raises(ControlError, match="complete"):
        sandbox.pay(session.id)
    assert len(sandbox.events()) == 1


def test_a_payment_can_skip_its_webhook(sandbox, shop, receiver):
    paid = sandbox.pay(checkout(shop).id, announce=False)
    sandbox.wait_for_webhooks()
    assert receiver.deliveries == []
    assert sandbox.resend(paid["event_id"]) == [200]
    assert receiver.types() == ["checkout.session.completed"]


def test_duplicate_delivers_the_same_event_twice(sandbox, shop, receiver):
    sandbox.fault("webhook", "duplicate")
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    first, second = receiver.events()
    assert first.id == second.id


def test_delay_delivers_late(sandbox, shop, receiver):
    sandbox.fault("webhook", "delay", seconds=0.4)
    sandbox.pay(checkout(shop).id)
    time.sleep(0.15)
    assert receiver.deliveries == []
    sandbox.wait_for_webhooks()
    assert len(receiver.deliveries) == 1


def test_reorder_lets_the_next_event_overtake(sandbox, shop, receiver):
    session = checkout(shop)
    sandbox.fault("webhook", "reorder", seconds=30)
    sandbox.pay(session.id, method="delayed")
    sandbox.settle(session.id)
    sandbox.wait_for_webhooks()
    assert receiver.types() == [
        "checkout.session.async_payment_succeeded",
        "checkout.session.completed",
    ]


def test_reorder_without_a_next_event_is_a_delay(sandbox, shop, receiver):
    sandbox.fault("webhook", "reorder", seconds=0.1)
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    assert receiver.types() == ["checkout.session.completed"]


def test_drop_never_delivers(sandbox, shop, receiver):
    sandbox.fault("webhook", "drop", match="checkout.session.completed")
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    assert receiver.deliveries == []
    assert len(sandbox.events()) == 1


@pytest.mark.parametrize("fault", ["bad_signature", "stale_signature"])
def test_a_forged_delivery_fails_verification_and_is_not_retried(sandbox, shop, receiver, fault):
    receiver.statuses = [400]
    sandbox.fault("webhook", fault)
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    assert len(receiver.deliveries) == 1
    with pytest.raises(stripe.SignatureVerificationError):
        receiver.events()


def test_an_event_can_be_resent_in_parallel(sandbox, shop, receiver):
    event_id = sandbox.pay(checkout(shop).id)["event_id"]
    sandbox.wait_for_webhooks()
    assert sandbox.resend(event_id, count=10, parallel=True) == [200] * 10
    assert sandbox.resend(event_id, count=2) == [200, 200]
    assert {event.id for event in receiver.events()} == {event_id}
    assert len(receiver.deliveries) == 13


def test_any_event_can_be_sent_manually(sandbox, receiver):
    sandbox.send_event("customer.created", {"id": "cus_1", "object": "customer"})
    sandbox.wait_for_webhooks()
    assert receiver.types() == ["customer.created"]


def test_without_a_webhook_url_events_are_stored_only(sandbox, shop, receiver):
    sandbox.settings(webhook_url=None)
    sandbox.pay(checkout(shop).id)
    sandbox.wait_for_webhooks()
    assert receiver.deliveries == []
    assert len(sandbox.events()) == 1


def test_a_reset_cancels_pending_deliveries(sandbox, shop, receiver):
    sandbox.fault("webhook", "delay", seconds=30)
    sandbox.pay(checkout(shop).id)
    sandbox.reset()
    assert sandbox.health()["webhooks_pending"] == 0
    assert receiver.deliveries == []


def test_every_fault_of_webhooks_is_tested_here():
    text = Path(__file__).read_text()
    assert not [name for name in KNOWN["webhook"] if f'"{name}"' not in text]
