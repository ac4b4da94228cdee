"""Every fault of Stripe, as the stripe library reports it."""

from pathlib import Path

import pytest
import stripe

from sandbox.faults import KNOWN
from tests.sandbox.conftest import STRIPE_KEY
from tests.support.stripe_requests import checkout, order


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("unauthorized", stripe.AuthenticationError),
        ("rate_limited", stripe.RateLimitError),
        ("error", stripe.APIError),
        ("bad_gateway", stripe.APIError),
        ("unavailable", stripe.APIError),
        ("broken_body", stripe.APIError),
        ("hang_up", stripe.APIConnectionError),
        ("slow", stripe.APIConnectionError),
    ],
)
def test_a_fault_raises_the_librarys_error_and_has_no_effect(sandbox, shop, fault, kind):
    sandbox.fault("stripe", fault, seconds=0.1 if fault != "slow" else 3)
    with pytest.raises(kind):
        checkout(shop)
    if fault != "slow":  # processed after the client timed out
        assert sandbox.sessions() == []
    assert checkout(shop).status == "open"


@pytest.mark.parametrize("fault", ["hang_up_after", "slow_after"])
def test_a_session_is_created_although_the_response_is_lost(sandbox, shop, fault):
    sandbox.fault("stripe", fault, seconds=3)
    with pytest.raises(stripe.APIConnectionError):
        checkout(shop)
    assert len(sandbox.sessions()) == 1


def test_a_retry_after_a_lost_response_returns_the_same_session(sandbox):
    http = stripe.RequestsClient(timeout=2)
    patient = stripe.StripeClient(
        STRIPE_KEY, base_addresses={"api": sandbox.url}, http_client=http, max_network_retries=2
    )
    sandbox.fault("stripe", "hang_up_after")
    session = patient.v1.checkout.sessions.create(order(), {"idempotency_key": "order-1"})
    assert [each["id"] for each in sandbox.sessions()] == [session.id]
    assert len(sandbox.requests("stripe")) == 2
    http.close()


def test_a_dribbling_response_never_ends(sandbox, web):
    sandbox.fault("stripe", "dribble", seconds=0.01)
    headers = {"Authorization": f"Bearer {STRIPE_KEY}"}
    with web.stream("GET", "/v1/checkout/sessions", headers=headers) as response:
        pieces = response.iter_raw()
        assert [next(pieces) for _ in range(5)]


def test_every_fault_of_stripe_is_tested_here():
    text = Path(__file__).read_text()
    assert not [name for name in KNOWN["stripe"] if f'"{name}"' not in text]
