"""`GET /api/verdict`: every status of the contract, with its body and headers."""

import json

import pytest
from django.db import connection

from audit.models import CrosscheckLog
from tests.support.stripe_objects import charge_object
from verdicts.clients import stripe_account
from verdicts.models import CachedVerdict, Order, Status, Verdict
from verdicts.payments.checkout import start_checkout
from verdicts.payments.client import Event
from verdicts.payments.events import receive
from verdicts.results.verdict_api import etag_matches

pytestmark = pytest.mark.django_db
SUPPORT = "oracle@42sisters.ai"


def problem_of(answer, status: int, slug: str) -> dict:
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    body = answer.json()
    assert (body["status"], body["type"], body["support"]) == (status, slug, SUPPORT)
    assert body["title"]
    assert body["detail"]
    return body


def test_a_hit_returns_the_stored_body_without_any_call(ask, sandbox, delivered):
    order = delivered("full")
    answer = ask(order.session_id)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer["Cache-Control"] == "private, no-cache"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer.content.decode() == CachedVerdict.objects.get().body
    assert answer.json()["verdict"] == Verdict.objects.get().payload
    assert answer.json()["divergence"] is None
    assert sandbox.requests("gemini") == sandbox.requests("stripe") == []


def test_a_hit_is_one_query(ask, delivered, django_assert_num_queries):
    order = delivered("full")
    with django_assert_num_queries(1):
        ask(order.session_id)


def test_a_matching_etag_gets_304(ask, delivered):
    order = delivered("quick")
    first = ask(order.session_id)
    for etag in (first["ETag"], f'"other", W/{first["ETag"]}', "*"):
        again = ask(order.session_id, if_none_match=etag)
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == first["ETag"]
        assert again["Cache-Control"] == "private, no-cache"
    assert ask(order.session_id, if_none_match='"other"').status_code == 200
    assert ask(order.session_id, if_match='"other"').status_code == 200


@pytest.mark.parametrize(
    "session_id",
    ["", "x", "cs_test_", "cs_test_a1B2c3D4\n", "cs_test_" + "a" * 201, "cs_prod_a1B2c3D4"],
)
def test_a_malformed_id_causes_no_lookup(ask, sandbox, session_id):
    problem_of(ask(session_id), 400, "malformed")
    assert sandbox.requests("stripe") == []


def test_no_id_at_all_is_malformed(client):
    problem_of(client.get("/api/verdict"), 400, "malformed")


def test_a_refund_is_in_later_responses(ask, delivered):
    order = delivered("quick")
    before = ask(order.session_id)
    assert "refunded_at" not in before.json()
    charge = charge_object(payment_intent=order.payment_intent)
    receive(Event("evt_1", "charge.refunded", charge))
    after = ask(order.session_id)
    assert after.json()["refunded_at"]
    assert after["ETag"] != before["ETag"]


@pytest.mark.parametrize(
    ("status", "code", "slug"),
    [
        (Status.REJECTED, 422, "rejected"),
        (Status.FAILED, 422, "failed"),
        (Status.ERASED, 410, "erased"),
    ],
)
def test_an_order_that_ended_without_a_verdict_is_a_problem_response(
    ask, sandbox, paid_order, status, code, slug
):
    order = paid_order()
    Order.objects.update(status=status)
    problem_of(ask(order.session_id), code, slug)
    assert sandbox.requests("gemini") == []


@pytest.mark.parametrize("status", [Status.PAID, Status.GENERATING, Status.HELD])
def test_an_order_in_progress_is_not_a_miss(ask, sandbox, paid_order, status):
    order = paid_order()
    Order.objects.update(status=status)
    answer = ask(order.session_id)
    assert answer.status_code == 202
    assert answer["Retry-After"] == "2"
    assert answer.json()["status"] == "working"
    assert answer.json()["stage"] == status
    assert sandbox.requests("gemini") == []


def test_an_unpaid_session_is_402(ask, sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="Should I?")
    problem_of(ask(session.id), 402, "unpaid")
    assert ask(session.id).json()["status"] == "asking"  # throttled: Stripe was just asked


def test_while_stripe_is_unreachable_reads_are_503(ask, sandbox):
    sandbox.fault("stripe", "unavailable", times=None)
    answer = ask("cs_test_nobodyKnows1")
    problem_of(answer, 503, "try-later")
    assert answer["Retry-After"]


def test_a_cache_error_is_not_a_miss(ask, sandbox, delivered):
    order = delivered("quick")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE verdicts_cachedverdict RENAME TO gone")
    answer = ask(order.session_id)
    problem_of(answer, 503, "try-later")
    assert answer["Retry-After"]
    assert sandbox.requests("gemini") == []


def test_http_errors_are_problem_responses_too(client):
    problem_of(client.post("/api/verdict"), 405, "method-not-allowed")
    problem_of(client.get("/api/verdict", headers={"accept": "image/png"}), 406, "not-acceptable")


def test_no_problem_holds_the_models_text(ask, sandbox, missed):
    order = missed("full")
    sandbox.fault("gemini", "missing_field", field="summary")
    answer = ask(order.session_id)
    problem_of(answer, 422, "rejected")
    keys = {"type", "title", "status", "detail", "support", "emailed_verdict"}
    assert set(answer.json()) == keys
    kept = CrosscheckLog.objects.get(approved=False).evidence
    analyses = [one["analysis"] for one in json.loads(kept)["breakdown"].values()]
    assert all(analyses)
    assert not any(text in answer.content.decode() for text in analyses)


def test_a_session_that_is_not_ours_is_unknown(ask, sandbox):
    made = sandbox.create_session(metadata={}, payment_status="paid", status="complete")
    problem_of(ask(made["id"]), 404, "unknown")
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("header", "matches"),
    [
        ("", False),
        ('"a"', True),
        ('W/"a"', True),
        ("*", True),
        (' "b" , W/"a"', True),
        ('"b"', False),
        ('"aa"', False),
        ("a", False),
    ],
)
def test_if_none_match(header, matches):
    assert etag_matches(header, '"a"') is matches
