"""Sessions that are unknown here are re-read from Stripe (R10)."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from audit.models import DivergenceEvent
from verdicts.clients import stripe_account
from verdicts.models import LookupLimit, Order, Status
from verdicts.payments import rate_limit, stripe_sync
from verdicts.payments.checkout import start_checkout
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.payments.rate_limit import PER_MINUTE, allowed, client_network, delete_expired

pytestmark = pytest.mark.django_db
HOUR = 3600


def test_an_old_paid_session_is_recreated_and_regenerated_with_an_unknown_original(
    ask, sandbox, elsewhere, run_jobs
):
    session_id = elsewhere(2 * HOUR)
    answer = ask(session_id)
    assert answer.status_code == 200
    assert answer.json()["query"] == "A bakery, really?"
    assert answer.json()["divergence"]["emailed_verdict"] == "UNKNOWN"
    assert "may differ" in answer.json()["divergence"]["disclaimer"]
    run_jobs()
    assert DivergenceEvent.objects.get().skipped
    assert ask(session_id).json()["divergence"]["status"] == "skipped"
    assert sandbox.messages() == []  # another installation has emailed its verdict
    assert len(sandbox.requests("gemini")) == 1


def test_a_query_in_a_custom_field_is_found_too(ask, elsewhere):
    field = {"key": "query", "type": "text", "text": {"value": "From a custom field?"}}
    session_id = elsewhere(2 * HOUR, metadata={"tier": "quick"}, custom_fields=[field])
    assert ask(session_id).json()["query"] == "From a custom field?"


def test_a_young_paid_session_is_a_new_order(ask, sandbox, elsewhere, run_jobs):
    session_id = elsewhere(HOUR / 2)
    answer = ask(session_id)
    assert (answer.status_code, answer.json()["stage"]) == (202, Status.PAID)
    run_jobs()
    assert ask(session_id).json()["regen"] is False
    assert len(sandbox.messages(to="buyer@example.com")) == 1


def test_an_old_price_holds_no_order(ask, elsewhere):
    session_id = elsewhere(2 * HOUR, amount_subtotal=300)
    assert ask(session_id).status_code == 200
    assert Order.objects.get().price_cents == 300


def test_an_order_without_a_valid_query_is_held_for_staff(ask, elsewhere):
    session_id = elsewhere(2 * HOUR, metadata={"tier": "quick"})
    answer = ask(session_id)
    assert (answer.status_code, answer.json()["stage"]) == (202, Status.HELD)


@pytest.mark.parametrize("age", [HOUR / 2, 2 * HOUR])
def test_an_unpaid_session_creates_no_order(ask, elsewhere, age):
    session_id = elsewhere(age, payment_status="unpaid", status="open")
    assert ask(session_id).status_code == 402
    assert not Order.objects.exists()


def test_an_order_whose_session_id_was_not_stored_is_accepted(ask, sandbox, run_jobs):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    Order.objects.update(session_id=None)  # the process died before it was stored
    sandbox.pay(session.id, email="a@b.example", announce=False)
    assert ask(session.id).status_code == 202
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert ask(session.id).json()["regen"] is False


def test_an_erased_order_is_not_read_from_stripe(ask, sandbox, elsewhere):
    session_id = elsewhere(2 * HOUR)
    Order.objects.create(
        session_id=session_id, status=Status.ERASED, tier="full", price_cents=500, currency="cad"
    )
    assert ask(session_id).status_code == 410
    assert sandbox.requests("stripe") == []


def test_guessed_ids_are_rate_limited_before_stripe_is_asked(ask, sandbox, monkeypatch):
    monkeypatch.setattr(rate_limit.time, "time", lambda: 1_800_000_030.0)
    answers = [ask(f"cs_test_guessNumber{n:02}") for n in range(PER_MINUTE + 5)]
    assert [one.status_code for one in answers] == [404] * PER_MINUTE + [429] * 5
    assert answers[-1].json()["type"] == "too-many"
    assert answers[-1]["Retry-After"] == "30"
    assert len(sandbox.requests("stripe")) == PER_MINUTE


def test_a_known_session_is_not_rate_limited(ask, delivered):
    order = delivered("quick")
    assert all(ask(order.session_id).status_code == 200 for _ in range(PER_MINUTE + 5))


def test_the_rate_limit_is_per_address_and_minute(db, monkeypatch):
    now = [1_800_000_000.0]
    monkeypatch.setattr(rate_limit.time, "time", lambda: now[0])
    assert [allowed("192.0.2.1") for _ in range(PER_MINUTE + 1)] == [True] * PER_MINUTE + [False]
    assert allowed("192.0.2.2")
    now[0] += 60
    assert allowed("192.0.2.1")


def test_addresses_are_hashed_and_deleted_soon(db, monkeypatch):
    allowed("192.0.2.1")
    assert "192.0.2.1" not in str(LookupLimit.objects.values().get())
    now = time.time()
    monkeypatch.setattr(rate_limit.time, "time", lambda: now + 180)
    assert delete_expired() == 1
    assert not LookupLimit.objects.exists()


def test_only_our_proxys_forwarded_address_is_trusted(client, sandbox, settings):
    settings.BEHIND_PROXY = True
    for n in range(PER_MINUTE + 1):
        answer = client.get(
            "/api/verdict",
            {"session_id": f"cs_test_guessNumber{n:02}"},
            headers={"x-forwarded-for": f"10.0.0.{n}, 192.0.2.7"},
        )
    assert answer.status_code == 429


def test_a_late_payment_of_an_old_session_gets_its_verdict_by_email(
    ask, sandbox, elsewhere, run_jobs
):
    """An old session that was just paid: the redirect arrives first, then the webhook."""
    session_id = elsewhere(2 * HOUR)
    assert ask(session_id).json()["divergence"]["emailed_verdict"] == "UNKNOWN"
    raw = retrieve_session(stripe_account(), session_id)
    assert receive(Event("evt_1", "checkout.session.completed", raw)).outcome != "already_paid"
    run_jobs()
    assert len(sandbox.messages(to="buyer@example.com")) == 1
    assert ask(session_id).json()["regen"] is False
    receive(Event("evt_2", "checkout.session.completed", raw))
    run_jobs()
    assert len(sandbox.messages(to="buyer@example.com")) == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_lookups_are_all_allowed():
    addresses = [f"192.0.2.{n}" for n in range(20)]

    def look(address: str) -> bool:
        try:
            return allowed(address)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as readers:
        answers = list(readers.map(look, [one for one in addresses for _ in range(4)]))
    assert all(answers)
    assert all(row.count == 4 for row in LookupLimit.objects.all())


def test_a_host_with_a_slow_clock_does_not_reset_the_count(db, monkeypatch):
    clocks = [1_800_000_060.0, 1_800_000_059.0] * 30
    monkeypatch.setattr(rate_limit.time, "time", clocks.pop)
    assert sum(allowed("192.0.2.1") for _ in range(40)) <= 2 * PER_MINUTE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2001:db8::1", "2001:db8::ffff"),
        ("192.0.2.1", "::ffff:192.0.2.1"),
        ("192.0.2.1", "192.0.2.1:5678"),
        ("[2001:db8::1]:443", "2001:db8::2"),
    ],
)
def test_addresses_of_one_network_share_a_limit(one, other):
    assert client_network(one) == client_network(other)


@pytest.mark.parametrize("odd", ["", "unknown", "2001:db8:1::1", "192.0.2.2"])
def test_addresses_of_other_networks_have_their_own_limit(odd):
    assert client_network(odd) != client_network("2001:db8::1")


def test_readers_above_the_concurrency_limit_cause_no_stripe_call(
    ask, sandbox, elsewhere, monkeypatch, settings
):
    """202 for a known order, 503 for an unknown session."""
    known = start_checkout(account=stripe_account(), tier="quick", query="Should I?").id
    unknown = elsewhere(2 * HOUR)
    sandbox.clear_requests()
    with monkeypatch.context() as busy:
        busy.setattr(stripe_sync.in_progress, "in_use", settings.SERVING.lookups)
        asking, later = ask(known), ask(unknown)
        assert (asking.status_code, asking.json()["status"]) == (202, "asking")
        assert (later.status_code, later.json()["type"]) == (503, "try-later")
        assert sandbox.requests("stripe") == []
    assert ask(known).status_code == 402  # the throttle did not count it
    assert ask(unknown).status_code == 200
