"""Sessions that are unknown here: what Stripe says of them decides (R10)."""

import time

import pytest

from audit.models import DivergenceEvent
from verdicts.models import Lookups, Order, Status
from verdicts.outside import stripe_account
from verdicts.services import lookups
from verdicts.services.checkout import start_checkout
from verdicts.services.lookups import PER_MINUTE, allowed, forget_old

pytestmark = pytest.mark.django_db
HOUR = 3600


@pytest.fixture
def elsewhere(sandbox):
    """A session that was sold elsewhere, so many seconds ago."""

    def make(age: float, **changes) -> str:
        fields = {
            "amount_subtotal": 500,
            "amount_total": 500,
            "currency": "cad",
            "created": int(time.time() - age),
            "metadata": {"tier": "full", "query_0": "A bakery, ", "query_1": "really?"},
            "customer_details": {"email": "buyer@example.com"},
            "payment_status": "paid",
            "status": "complete",
        }
        return sandbox.create_session(**{**fields, **changes})["id"]

    return make


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
    assert sandbox.messages() == []  # its verdict was emailed from elsewhere
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


def test_an_old_price_holds_nobody_up(ask, elsewhere):
    session_id = elsewhere(2 * HOUR, amount_subtotal=300)
    assert ask(session_id).status_code == 200
    assert Order.objects.get().price_cents == 300


def test_without_a_query_that_could_be_judged_staff_decide(ask, elsewhere):
    session_id = elsewhere(2 * HOUR, metadata={"tier": "quick"})
    answer = ask(session_id)
    assert (answer.status_code, answer.json()["stage"]) == (202, Status.HELD)


@pytest.mark.parametrize("age", [HOUR / 2, 2 * HOUR])
def test_an_unpaid_one_makes_no_order(ask, elsewhere, age):
    session_id = elsewhere(age, payment_status="unpaid", status="open")
    assert ask(session_id).status_code == 402
    assert not Order.objects.exists()


def test_an_order_of_ours_whose_id_was_never_stored_is_paid_like_any_other(ask, sandbox, run_jobs):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    Order.objects.update(session_id=None)  # we died before we could
    sandbox.pay(session.id, email="a@b.example", announce=False)
    assert ask(session.id).status_code == 202
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert ask(session.id).json()["regen"] is False


def test_an_erased_order_is_read_from_nowhere(ask, sandbox, elsewhere):
    session_id = elsewhere(2 * HOUR)
    Order.objects.create(
        session_id=session_id, status=Status.ERASED, tier="full", price_cents=500, currency="cad"
    )
    assert ask(session_id).status_code == 410
    assert sandbox.requests("stripe") == []


def test_who_guesses_ids_is_stopped_before_stripe_is_asked(ask, sandbox, monkeypatch):
    monkeypatch.setattr(lookups.time, "time", lambda: 1_800_000_030.0)
    answers = [ask(f"cs_test_guessNumber{n:02}") for n in range(PER_MINUTE + 5)]
    assert [one.status_code for one in answers] == [404] * PER_MINUTE + [429] * 5
    assert answers[-1].json()["type"] == "too-many"
    assert answers[-1]["Retry-After"] == "30"
    assert len(sandbox.requests("stripe")) == PER_MINUTE


def test_a_known_session_is_read_from_any_address(ask, delivered):
    order = delivered("quick")
    assert all(ask(order.session_id).status_code == 200 for _ in range(PER_MINUTE + 5))


def test_each_address_and_each_minute_counts_by_itself(db, monkeypatch):
    now = [1_800_000_000.0]
    monkeypatch.setattr(lookups.time, "time", lambda: now[0])
    assert [allowed("192.0.2.1") for _ in range(PER_MINUTE + 1)] == [True] * PER_MINUTE + [False]
    assert allowed("192.0.2.2")
    now[0] += 60
    assert allowed("192.0.2.1")


def test_no_address_is_kept_as_it_is_and_none_for_long(db, monkeypatch):
    allowed("192.0.2.1")
    assert "192.0.2.1" not in str(Lookups.objects.values().get())
    now = time.time()
    monkeypatch.setattr(lookups.time, "time", lambda: now + 180)
    assert forget_old() == 1
    assert not Lookups.objects.exists()


def test_behind_our_proxy_its_word_counts_and_nobody_elses(client, sandbox, settings):
    settings.BEHIND_PROXY = True
    for n in range(PER_MINUTE + 1):
        answer = client.get(
            "/api/verdict",
            {"session_id": f"cs_test_guessNumber{n:02}"},
            headers={"x-forwarded-for": f"10.0.0.{n}, 192.0.2.7"},
        )
    assert answer.status_code == 429
