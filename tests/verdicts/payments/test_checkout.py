import pytest

from verdicts.clients import stripe_account
from verdicts.core.errors import PaymentRefused, PaymentsBusy
from verdicts.models import Order, Status
from verdicts.payments import checkout
from verdicts.payments.checkout import start_checkout
from verdicts.payments.stripe_sync import is_unpaid

pytestmark = pytest.mark.django_db


def test_an_order_is_stored_and_its_price_sent_to_stripe(sandbox):
    session = start_checkout(
        account=stripe_account(), tier="full", query="x" * 1_200, email="a@b.example"
    )
    order = Order.objects.get()
    (at_stripe,) = sandbox.sessions()
    assert order.session_id == session.id == at_stripe["id"]
    assert order.status == Status.CREATED
    assert (at_stripe["amount_subtotal"], at_stripe["currency"]) == (500, "cad")
    assert at_stripe["metadata"] == {
        "tier": "full",
        "query_0": "x" * 500,
        "query_1": "x" * 500,
        "query_2": "x" * 200,
    }
    assert at_stripe["customer_email"] == "a@b.example"
    assert at_stripe["success_url"].endswith("/oracle/result?session_id={CHECKOUT_SESSION_ID}")


def test_the_idempotency_key_is_derived_from_the_order(sandbox):
    start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    (request,) = sandbox.requests("stripe")
    assert request["headers"]["idempotency-key"] == f"checkout-{Order.objects.get().token}"


def test_a_dropped_response_is_retried_without_a_second_session(sandbox):
    sandbox.fault("stripe", "hang_up_after", times=1)
    start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    assert len(sandbox.sessions()) == 1


@pytest.mark.parametrize(
    ("fault", "error"), [("error", PaymentsBusy), ("unauthorized", PaymentRefused)]
)
def test_stripe_errors_are_mapped(sandbox, fault, error):
    sandbox.fault("stripe", fault, times=None)
    with pytest.raises(error):
        start_checkout(account=stripe_account(), tier="quick", query="Should I?")


def test_a_redirect_before_the_webhook_marks_the_order_paid(sandbox, run_jobs):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    sandbox.pay(session.id, email="a@b.example", announce=False)
    order = Order.objects.get()
    assert is_unpaid(order, account=stripe_account()) is False
    assert order.status == Status.PAID
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED


def test_a_redirect_before_the_webhook_of_a_delayed_payment_is_awaiting(sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    sandbox.pay(session.id, email="a@b.example", method="delayed", announce=False)
    order = Order.objects.get()
    is_unpaid(order, account=stripe_account())
    assert order.status == Status.AWAITING


def test_lookups_at_stripe_are_throttled(sandbox):
    start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    sandbox.clear_requests()
    answers = [is_unpaid(Order.objects.get(), account=stripe_account()) for _ in range(5)]
    assert len(sandbox.requests("stripe")) == 1
    assert answers == [True, None, None, None, None]


@pytest.fixture
def all_slots_taken(monkeypatch, settings) -> None:
    """All checkout slots of this process are in use."""
    monkeypatch.setattr(checkout.in_progress, "in_use", settings.SERVING.checkouts)


def test_an_order_above_the_concurrency_limit_is_refused_before_anything_is_stored(
    all_slots_taken, client, sandbox
):
    order = {"tier": "quick", "query": "Should I?"}
    by_api = client.post("/api/checkout", order, content_type="application/json")
    by_form = client.post("/", order)
    for answer in (by_api, by_form):
        assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert by_api.json()["type"] == "try-later"
    assert "Should I?" in by_form.content.decode()  # the form keeps its input
    assert (Order.objects.count(), sandbox.requests("stripe")) == (0, [])


def test_a_slot_is_released_after_success_and_after_failure(sandbox, settings):
    for _ in range(settings.SERVING.checkouts + 1):
        start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    sandbox.fault("stripe", "error", times=None)
    for _ in range(settings.SERVING.checkouts + 1):
        with pytest.raises(PaymentsBusy):
            start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    assert checkout.in_progress.in_use == 0
