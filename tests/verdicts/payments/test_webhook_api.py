import itertools
import json
import time

import pytest

from tests.support.stripe_objects import EVENT, signature
from verdicts.models import Order, Status, StripeEvent

pytestmark = pytest.mark.django_db


def post(client, body: bytes, header: str | None = None):
    return client.post(
        "/api/webhook",
        data=body,
        content_type="application/json",
        headers={"Stripe-Signature": signature(body) if header is None else header},
    )


def test_a_signed_event_is_accepted(client):
    answer = post(client, json.dumps(EVENT).encode())
    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert Order.objects.get().status == Status.PAID


def test_during_a_secret_rotation_both_secrets_are_accepted(client, settings):
    settings.STRIPE_WEBHOOK_SECRETS = ["whsec_new", "whsec_old"]
    for number, secret in enumerate(settings.STRIPE_WEBHOOK_SECRETS):
        body = json.dumps({**EVENT, "id": f"evt_{number}"}).encode()
        assert post(client, body, signature(body, secret=secret)).status_code == 200


BODY = json.dumps(EVENT).encode()


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        "t=,v1=",
        "t=abc,v1=abc",
        signature(BODY, secret="whsec_wrong"),
        signature(BODY, at=time.time() - 3_600),
        signature(b"another body"),
        "t=1,v1=\xff",
        f"t={int(time.time())},v1=\xe9",
        f"t={int(time.time())},v1=" + "a" * 5_000,
        "t=99999999999999999999999,v1=a",
        "t=nan,v1=a",
    ],
    ids=itertools.count(),  # stable ids: some headers contain the time
)
def test_an_event_with_a_bad_signature_is_refused_and_not_stored(client, header):
    answer = post(client, BODY, header)
    assert answer.status_code == 400
    assert "signature" in answer.json()["error"]
    assert not StripeEvent.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"not json",
        b"\xff\xfe",
        b'{"id": 7, "type": "x", "data": {"object": {}}}',
        b'{"id": "", "type": "x", "data": {"object": {}}}',
        b'{"id": "evt", "type": "x", "data": {"object": []}}',
        b'{"id": "evt", "type": "x", "data": null}',
        b"[" * 50_000,
        b'{"id": "evt\\u0000", "type": "x", "data": {"object": {}}}',
        b'{"id": "evt", "type": "x\\ud800", "data": {"object": {}}}',
    ],
)
def test_a_signed_body_that_is_no_event_is_refused_and_not_stored(client, body):
    answer = post(client, body)
    assert answer.status_code == 400
    assert not StripeEvent.objects.exists()


def test_a_huge_body_is_refused(client):
    assert post(client, b" " * (600 * 1024)).status_code == 400


def test_only_post_is_allowed(client):
    assert client.get("/api/webhook").status_code == 405


def test_an_event_that_fails_is_500_so_that_stripe_retries(client, monkeypatch):
    monkeypatch.setattr("verdicts.payments.events.record_session", lambda _: 1 / 0)
    client.raise_request_exception = False
    assert post(client, BODY).status_code == 500
    assert StripeEvent.objects.get().processed_at is None
