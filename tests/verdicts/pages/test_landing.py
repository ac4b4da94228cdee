import pytest

from verdicts.core.tiers import TIER
from verdicts.models import Order


def test_the_landing_page_offers_the_three_tiers_with_their_prices(client):
    page = client.get("/").content.decode()
    for tier in TIER.values():
        assert tier.title in page
        assert all(line in page for line in tier.features)
    assert all(price in page for price in ("CA$2.00", "CA$5.00", "CA$15.00"))
    assert "SANDBOX" in page


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_are_not_allowed(client, method):
    assert getattr(client, method)("/").status_code == 405


@pytest.mark.django_db
def test_the_form_redirects_to_the_payment_page(client, sandbox):
    answer = client.post("/", {"tier": "strategy", "query": " A bakery?\r\n", "email": ""})
    assert answer.status_code == 303
    assert answer["Location"] == sandbox.sessions()[0]["url"]
    assert Order.objects.get().query == " A bakery?\n"


@pytest.mark.django_db
def test_errors_are_shown_at_their_fields_and_the_input_is_kept(client):
    answer = client.post("/", {"tier": "gold", "query": "x" * 4_001, "email": "nobody"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Choose one of the three." in page
    assert "the limit is 4,000" in page
    assert "Enter a valid email address." in page
    assert "x" * 4_001 in page
    assert not Order.objects.exists()


@pytest.mark.django_db
def test_if_stripe_is_down_the_input_is_kept(client, sandbox):
    sandbox.fault("stripe", "unavailable", times=None)
    answer = client.post("/", {"tier": "quick", "query": "My idea", "email": ""})
    assert answer.status_code == 503
    assert "Nothing was charged" in answer.content.decode()
    assert "My idea" in answer.content.decode()


def test_text_in_another_encoding_is_rejected(client, db):
    kind = "application/x-www-form-urlencoded"
    answer = client.post("/", data=b"tier=quick&query=Caf%E9", content_type=kind)
    assert answer.status_code == 422
    assert "encoding" in answer.content.decode()
    assert not Order.objects.exists()
