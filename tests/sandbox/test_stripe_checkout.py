"""Checkout Sessions, through the stripe library."""

import re
import time

import pytest
import stripe

from tests.support.stripe_requests import checkout, order


def test_a_new_session_is_open_unpaid_and_has_a_page(sandbox, shop):
    session = checkout(shop)
    assert re.fullmatch(r"cs_(test|live)_[A-Za-z0-9]{8,200}", session.id)
    assert (session.status, session.payment_status, session.mode) == ("open", "unpaid", "payment")
    assert (session.amount_total, session.amount_subtotal, session.currency) == (500, 500, "cad")
    assert session.url == f"{sandbox.url}/pay/{session.id}"
    assert session.metadata.to_dict() == {"tier": "full", "query_0": "Should I open a bakery?"}
    assert session.customer_email == "ada@example.com"
    assert session.payment_intent is None
    assert session.livemode is False
    assert session.expires_at - session.created == 24 * 60 * 60


def test_a_session_can_be_retrieved(shop):
    session = checkout(shop)
    assert shop.v1.checkout.sessions.retrieve(session.id).to_dict() == session.to_dict()


def test_any_text_survives_form_encoding(shop):
    odd = "a[0]=b&c=d +%20\n“Ω” {x} " + "é" * 470
    assert checkout(shop, metadata={"query_0": odd}).metadata["query_0"] == odd


def test_an_unknown_session_gets_stripes_404(shop):
    with pytest.raises(stripe.InvalidRequestError) as caught:
        shop.v1.checkout.sessions.retrieve("cs_test_nobodyhasthis")
    assert (caught.value.http_status, caught.value.code) == (404, "resource_missing")
    assert caught.value.request_id.startswith("req_")


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"metadata": {f"key_{n}": "x" for n in range(51)}}, "metadata"),
        ({"metadata": {"k" * 41: "x"}}, "metadata"),
        ({"metadata": {"query_0": "x" * 501}}, "metadata[query_0]"),
        ({"success_url": "/oracle/result"}, "success_url"),
        ({"success_url": "javascript:alert(1)"}, "success_url"),
        ({"customer_email": "nobody"}, "customer_email"),
        ({"line_items": []}, "line_items"),
        ({"mode": "subscription"}, "mode"),
        ({"colour": "blue"}, "colour"),
        ({"expires_at": 1_000_000_000}, "expires_at"),
        ({"line_items": [{"quantity": 1}]}, "line_items[0][price_data]"),
    ],
)
def test_what_stripe_rejects_is_rejected(shop, changes, param):
    with pytest.raises(stripe.InvalidRequestError) as caught:
        checkout(shop, **changes)
    assert caught.value.http_status == 400
    assert caught.value.param == param


def test_limits_are_inclusive(shop):
    metadata = {f"{n:02}".ljust(40, "k"): "é" * 500 for n in range(50)}
    assert checkout(shop, metadata=metadata).metadata.to_dict() == metadata
    assert checkout(shop, expires_at=int(time.time()) + 1_800).status == "open"


def test_less_than_fifty_cents_is_too_small(shop):
    line = order()["line_items"][0]
    small = {**line, "price_data": {**line["price_data"], "unit_amount": 49}}
    with pytest.raises(stripe.InvalidRequestError) as caught:
        checkout(shop, line_items=[small])
    assert caught.value.code == "amount_too_small"


@pytest.mark.parametrize("key", ["pk_test_1", "sk_bad_key"])
def test_a_bad_key_is_rejected(sandbox, key):
    http = stripe.RequestsClient(timeout=2)
    shop = stripe.StripeClient(key, base_addresses={"api": sandbox.url}, http_client=http)
    with pytest.raises(stripe.AuthenticationError):
        checkout(shop)
    http.close()


def test_the_list_is_newest_first_in_pages(sandbox, shop):
    ids = [sandbox.create_session(created=1_000 + n)["id"] for n in range(5)]
    first = shop.v1.checkout.sessions.list({"limit": 2})
    assert [each.id for each in first.data] == [ids[4], ids[3]]
    assert first.has_more
    rest = shop.v1.checkout.sessions.list({"limit": 100, "starting_after": ids[3]})
    assert [each.id for each in rest.data] == [ids[2], ids[1], ids[0]]
    assert not rest.has_more
    late = shop.v1.checkout.sessions.list({"created": {"gte": 1_003}})
    assert [each.id for each in late.data] == [ids[4], ids[3]]
    assert len(list(first.auto_paging_iter())) == 5


def test_a_list_is_filtered_by_status_and_its_cursor_may_be_any_session(sandbox, shop):
    made = [sandbox.create_session(created=1_000 + n)["id"] for n in range(6)]
    for session_id in (made[0], made[2], made[4]):
        sandbox.pay(session_id)
    complete = {"status": "complete", "limit": 1, "created": {"gte": 1_001, "lt": 1_005}}
    first = shop.v1.checkout.sessions.list(complete)
    assert [each.id for each in first.auto_paging_iter()] == [made[4], made[2]]
    after = shop.v1.checkout.sessions.list({**complete, "starting_after": made[3]})
    assert ([each.id for each in after.data], after.has_more) == ([made[2]], False)
    before = shop.v1.checkout.sessions.list({"limit": 2, "ending_before": made[0]})
    assert ([each.id for each in before.data], before.has_more) == ([made[2], made[1]], True)


@pytest.mark.parametrize(
    ("params", "param"),
    [({"status": "paid"}, "status"), ({"payment_status": "paid"}, "payment_status")],
)
def test_an_unknown_filter_is_rejected(shop, params, param):
    with pytest.raises(stripe.InvalidRequestError) as caught:
        shop.v1.checkout.sessions.list(params)
    assert caught.value.param == param


def test_a_session_can_be_expired_once(sandbox, shop, receiver):
    session = checkout(shop)
    assert shop.v1.checkout.sessions.expire(session.id).status == "expired"
    with pytest.raises(stripe.InvalidRequestError):
        shop.v1.checkout.sessions.expire(session.id)
    sandbox.wait_for_webhooks()
    assert receiver.types() == ["checkout.session.expired"]


def test_a_session_expires_by_time_too(sandbox, shop, receiver):
    made = sandbox.create_session(expires_at=int(time.time()) - 1)
    assert shop.v1.checkout.sessions.retrieve(made["id"]).status == "expired"
    sandbox.wait_for_webhooks()
    assert receiver.types() == ["checkout.session.expired"]


def test_a_custom_field_is_shown_and_its_answer_stored(sandbox, shop):
    question = {
        "key": "query",
        "label": {"type": "custom", "custom": "Your idea"},
        "type": "text",
        "text": {"maximum_length": 255},
    }
    session = checkout(shop, custom_fields=[question])
    assert session.custom_fields[0].text.value is None
    sandbox.pay(session.id, custom_fields={"query": "A bakery?"})
    paid = shop.v1.checkout.sessions.retrieve(session.id)
    assert paid.custom_fields[0].key == "query"
    assert paid.custom_fields[0].text.value == "A bakery?"


def test_an_external_session_can_have_any_fields_and_be_paid(sandbox, shop):
    field = {"key": "query", "type": "text", "text": {"value": "A boat?"}}
    made = sandbox.create_session(
        id="cs_live_madeElsewhere1",
        metadata={"campaign": "spring"},
        custom_fields=[field],
        amount_total=99_00,
        currency="eur",
    )
    assert made["amount_total"] == 9_900
    sandbox.pay(made["id"], email="bob@example.com")
    read = shop.v1.checkout.sessions.retrieve("cs_live_madeElsewhere1")
    assert (read.payment_status, read.currency) == ("paid", "eur")
    assert read.customer_details.email == "bob@example.com"
    already = sandbox.create_session(payment_status="paid", customer_email="eve@example.com")
    assert (already["status"], already["url"]) == ("complete", None)
    assert already["payment_intent"].startswith("pi_")
