import pytest
from django.db import connection

from verdicts.clients import stripe_account
from verdicts.models import Order, Status, Verdict
from verdicts.payments.checkout import start_checkout

pytestmark = pytest.mark.django_db


def page(client, session_id: str):
    return client.get("/oracle/result", {"session_id": session_id})


@pytest.mark.parametrize("session_id", ["", "x", "cs_test_", "cs_test_a1B2c3D4\n", "'; --"])
def test_a_malformed_id_causes_no_lookup(client, sandbox, session_id):
    assert page(client, session_id).status_code == 400
    assert sandbox.requests("stripe") == []


def test_an_unknown_session_is_unknown(client, sandbox):
    assert page(client, "cs_test_a1B2c3D4e5").status_code == 404


def test_an_unpaid_order_says_that_nothing_was_charged(client, sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    answer = page(client, session.id)
    assert answer.status_code == 402
    assert "nothing was charged" in answer.content.decode()


def test_a_redirect_before_the_webhook_is_not_answered_unpaid(client, sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    sandbox.pay(session.id, email="a@b.example", announce=False)
    assert page(client, session.id).status_code == 202
    assert Order.objects.get().status == Status.PAID


def test_a_reload_during_the_stripe_lookup_is_not_answered_unpaid(client, sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    assert page(client, session.id).status_code == 402
    again = page(client, session.id)
    assert again.status_code == 202
    assert 'http-equiv="refresh"' in again.content.decode()


def test_an_order_that_stripe_does_not_know_is_unknown(client, sandbox):
    start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    Order.objects.update(session_id="cs_test_neverHeardOf1")
    assert page(client, "cs_test_neverHeardOf1").status_code == 404


def test_while_stripe_is_unreachable_no_read_is_answered_unpaid(client, sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    sandbox.fault("stripe", "unavailable", times=None)
    assert page(client, session.id).status_code == 503


def test_a_database_lost_while_the_page_is_rendered_is_503(client, delivered):
    order = delivered("quick")
    with connection.cursor() as cursor:  # the page queries it after the outcome
        cursor.execute("ALTER TABLE verdicts_case RENAME TO gone")
    answer = page(client, order.session_id)
    assert answer.status_code == 503
    assert answer["Retry-After"]
    assert Verdict.objects.get().label not in answer.content.decode()


@pytest.mark.parametrize("tier", ["quick", "full", "strategy"])
def test_a_delivered_verdict_is_shown_whole(client, sandbox, paid_order, run_jobs, tier):
    order = paid_order(tier, query="<b>A bakery</b>?")
    run_jobs()
    answer = page(client, order.session_id)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert answer["Referrer-Policy"] == "no-referrer"
    assert Verdict.objects.get().label in text
    assert ("Five dimensions" in text) == (tier != "quick")
    assert ("Next step" in text) == (tier == "strategy")
    assert "&lt;b&gt;A bakery&lt;/b&gt;?" in text


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (Status.AWAITING, 202, "Waiting for your payment"),
        (Status.PAID, 202, "being judged"),
        (Status.GENERATING, 202, "being judged"),
        (Status.HELD, 202, "A person is looking"),
        (Status.REJECTED, 422, "did not pass our checks"),
        (Status.FAILED, 422, "could not be brought to answer"),
        (Status.EXPIRED, 402, "not paid"),
        (Status.PAYMENT_FAILED, 402, "not paid"),
        (Status.ERASED, 410, "was erased"),
    ],
)
def test_each_state_has_a_page_that_names_the_support_address(
    client, sandbox, paid_order, status, code, words
):
    order = paid_order()
    Order.objects.update(status=status, session_id=order.session_id.replace("paid", "none"))
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    Order.objects.filter(session_id=session.id).delete()
    Order.objects.update(session_id=session.id, status=status)
    answer = page(client, session.id)
    assert answer.status_code == code
    assert words in answer.content.decode()
    assert "oracle@42sisters.ai" in answer.content.decode()
