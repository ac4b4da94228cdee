"""Log lines of a request carry the hash of its session, and never that of an earlier request."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import Client

from audit.core.redaction import short_hash
from tests.support.service_log import listening
from tests.support.stripe_objects import charge_object, session_object
from tests.verdicts.payments.test_webhook_api import post
from verdicts.models import CachedVerdict, Order, StripeEvent
from verdicts.reconciliation.sweep import sweep

pytestmark = pytest.mark.django_db


def event(number: int, kind: str, obj: dict) -> bytes:
    whole = {"id": f"evt_{number}", "object": "event", "type": kind, "data": {"object": obj}}
    return json.dumps(whole).encode()


@pytest.mark.slow
def test_lines_of_a_read_have_its_session(sandbox, missed, ask):
    order = missed()
    sandbox.fault("gemini", "unavailable", times=None)
    with listening() as lines:
        assert ask(order.session_id).status_code == 503
    session = short_hash(order.session_id)
    # Django logs its line after the view has returned.
    expected = [("verdicts.results.regenerate", session), ("django.request", session)]
    assert [(line["logger"], line["session"]) for line in lines] == expected
    assert order.session_id not in json.dumps(lines)


def test_the_line_of_a_failed_page_has_its_session_and_quotes_no_content(delivered, client):
    order = delivered()
    CachedVerdict.objects.filter(session_id=order.session_id).update(body="no JSON")
    client.raise_request_exception = False
    with listening() as lines:
        assert client.get("/oracle/result", {"session_id": order.session_id}).status_code == 500
    (line,) = lines
    assert (line["logger"], line["session"]) == ("django.request", short_hash(order.session_id))
    assert "JSONDecodeError: (left out" in line["error"]


def test_the_line_of_a_stripe_event_has_its_session(client):
    session = session_object()
    with listening() as lines:
        assert post(client, event(1, "checkout.session.completed", session)).status_code == 200
    (line,) = lines
    assert line["message"] == f"order {Order.objects.get().pk} made from its session"
    assert line["session"] == short_hash(session["id"])


def test_the_line_of_a_failed_stripe_event_has_its_session(client, monkeypatch):
    monkeypatch.setattr("verdicts.payments.events.record_session", lambda _: 1 / 0)
    client.raise_request_exception = False
    session = session_object()
    with listening() as lines:
        assert post(client, event(1, "checkout.session.completed", session)).status_code == 500
    assert [line["session"] for line in lines] == [short_hash(session["id"])]


def test_the_line_of_a_refund_has_the_session_of_its_payment(client, paid_order, monkeypatch):
    order = paid_order()
    monkeypatch.setattr("verdicts.payments.refunds.record_refund", lambda *_: 1 / 0)
    client.raise_request_exception = False
    refund = event(1, "charge.refunded", charge_object(payment_intent=order.payment_intent))
    with listening() as lines:
        assert post(client, refund).status_code == 500
    assert [line["session"] for line in lines] == [short_hash(order.session_id)]


def test_each_line_of_a_sweep_has_the_session_of_its_own_event(monkeypatch):
    monkeypatch.setattr("verdicts.payments.events.record_session", lambda _: 1 / 0)
    ids = ["cs_test_aaaaaaaa1", "cs_test_bbbbbbbb2"]
    for number, session in enumerate(ids):
        stored = StripeEvent.objects.create(
            event_id=f"evt_{number}",
            type="checkout.session.completed",
            object=json.dumps(session_object(id=session)),
        )
        StripeEvent.objects.filter(pk=stored.pk).update(received_at="2026-01-01T00:00Z")
    StripeEvent.objects.create(event_id="evt_9", type="checkout.session.completed", object="{")
    StripeEvent.objects.filter(event_id="evt_9").update(received_at="2026-01-01T00:00Z")
    with listening() as lines:
        sweep()
    sessions = {line["message"]: line.get("session") for line in lines}
    assert sessions == {
        "event evt_0 cannot be processed": short_hash(ids[0]),
        "event evt_1 cannot be processed": short_hash(ids[1]),
        "event evt_9 cannot be processed": None,
    }


def test_lines_of_a_requested_email_have_its_session(sandbox, delivered, client, settings):
    order = delivered()
    order.deliveries.update(state="failed")
    sandbox.fault("graph", "error", times=None)
    with listening() as lines:
        client.post(
            "/send-verdict-email",
            {"session_id": order.session_id},
            content_type="application/json",
            headers={"Authorization": f"Bearer {settings.ORACLE_SERVICE_TOKENS[0]}"},
        )
    assert [line["logger"] for line in lines] == ["verdicts.mail.outbox", "django.request"]
    assert {line["session"] for line in lines} == {short_hash(order.session_id)}


def test_lines_of_a_new_order_have_its_session_once_there_is_one(sandbox, client, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise LookupError

    monkeypatch.setattr("verdicts.payments.checkout_api.Response", fail)
    client.raise_request_exception = False
    with listening() as lines:
        order = {"tier": "quick", "query": "A ferry?"}
        answer = client.post("/api/checkout", order, content_type="application/json")
    assert answer.status_code == 500
    assert lines[-1]["session"] == short_hash(Order.objects.get().session_id)


def test_the_line_of_a_failed_console_page_has_the_session_of_its_record(
    admin_client, delivered, monkeypatch
):
    order = delivered()
    monkeypatch.setattr("verdicts.admin.orders.timeline", lambda _: 1 / 0)
    admin_client.raise_request_exception = False
    with listening() as lines:
        answer = admin_client.get(f"/admin/verdicts/order/{order.pk}/change/")
    assert answer.status_code == 500
    assert [line["session"] for line in lines] == [short_hash(order.session_id)]


@pytest.mark.django_db(transaction=True)
def test_a_thread_does_not_keep_the_session_of_an_earlier_request(sandbox, missed):
    order = missed()
    sandbox.fault("gemini", "unavailable", times=None)

    def answer() -> None:
        Client().get("/api/verdict", {"session_id": order.session_id})
        Client().post("/api/webhook", "{}", content_type="application/json")
        connection.close()

    with listening() as lines, ThreadPoolExecutor(1) as thread:
        thread.submit(answer).result()
        thread.submit(answer).result()
    refused = [line for line in lines if line["message"].startswith("webhook refused")]
    assert len(refused) == 2
    assert all("session" not in line for line in refused)
    others = [line for line in lines if line not in refused]
    assert {line["session"] for line in others} == {short_hash(order.session_id)}
