import pytest

from verdicts.models import Order

pytestmark = pytest.mark.django_db


def post(client, data):
    return client.post("/api/checkout", data=data, content_type="application/json")


def test_a_valid_order_gets_a_payment_page(client, sandbox):
    answer = post(client, {"tier": "quick", "query": "Should I?\r\nReally?"})
    assert answer.status_code == 201
    assert answer.json() == {
        "session_id": Order.objects.get().session_id,
        "url": sandbox.sessions()[0]["url"],
    }
    assert Order.objects.get().query == "Should I?\nReally?"


@pytest.mark.parametrize(
    ("data", "field", "sentence"),
    [
        ({"query": "Should I?"}, "tier", "required"),
        ({"tier": "gold", "query": "Should I?"}, "tier", "not a valid choice"),
        ({"tier": "\ud800", "query": "Should I?"}, "tier", "not a valid choice"),
        ({"tier": "quick"}, "query", "required"),
        ({"tier": "quick", "query": ""}, "query", "Describe the idea"),
        ({"tier": "quick", "query": "x" * 4_001}, "query", "the limit is 4,000"),
        ({"tier": "quick", "query": "a\x07b"}, "query", "Character 2 (U+0007)"),
        ({"tier": "quick", "query": {"a": 1}}, "query", "Not a valid string"),
        ({"tier": "quick", "query": "Should I?", "email": "nobody"}, "email", "valid email"),
    ],
)
def test_an_invalid_order_gets_field_errors_and_nothing_is_stored(client, data, field, sentence):
    answer = post(client, data)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["type"] == "invalid"
    assert answer.json()["support"] == "oracle@42sisters.ai"
    assert sentence in answer.json()["errors"][field][0]
    assert not Order.objects.exists()


@pytest.mark.parametrize("body", ["", "[]", "null", "{", '"x"', "\xff", "[" * 100_000])
def test_a_body_that_is_not_an_order_is_refused(client, body):
    assert post(client, body).status_code == 400


def test_a_huge_body_is_too_large(client):
    assert post(client, {"query": "x" * 600_000}).status_code == 413


def test_a_stripe_outage_is_503_with_retry_after(client, sandbox):
    sandbox.fault("stripe", "unavailable", times=None)
    answer = post(client, {"tier": "quick", "query": "Should I?"})
    assert answer.status_code == 503
    assert answer["Retry-After"] == "30"
    assert "Nothing was charged" in answer.json()["detail"]
