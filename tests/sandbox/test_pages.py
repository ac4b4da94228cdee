"""The HTML pages: payment, mailbox, overview."""

import pytest

from tests.support.graph_requests import message, send
from tests.support.stripe_requests import checkout


def test_the_payment_page_shows_product_price_and_email(shop, web):
    session = checkout(shop)
    page = web.get(session.url)
    assert page.status_code == 200
    assert "Full Breakdown" in page.text
    assert "CA$5.00" in page.text
    assert 'value="ada@example.com"' in page.text
    assert "SANDBOX" in page.text


def test_paying_redirects_to_the_success_page_and_sends_an_event(sandbox, shop, web, receiver):
    session = checkout(shop)
    response = web.post(session.url, data={"email": "bob@example.com", "action": "pay"})
    assert response.status_code == 303
    expected = f"http://127.0.0.1:8000/oracle/result?session_id={session.id}"
    assert response.headers["Location"] == expected
    paid = shop.v1.checkout.sessions.retrieve(session.id)
    assert (paid.status, paid.payment_status) == ("complete", "paid")
    assert paid.customer_details.email == "bob@example.com"
    sandbox.wait_for_webhooks()
    assert receiver.types() == ["checkout.session.completed"]


def test_pressing_pay_twice_pays_once(sandbox, shop, web):
    session = checkout(shop)
    answers = [web.post(session.url, data={"action": "pay"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert len(sandbox.events()) == 1


def test_cancelling_redirects_back_without_payment(sandbox, shop, web):
    session = checkout(shop)
    response = web.post(session.url, data={"action": "cancel"})
    assert response.headers["Location"] == "http://127.0.0.1:8000/"
    assert shop.v1.checkout.sessions.retrieve(session.id).status == "open"
    assert sandbox.events() == []


@pytest.mark.parametrize(("action", "status"), [("settle", "paid"), ("fail", "unpaid")])
def test_a_delayed_payment_can_be_settled_on_the_page(shop, web, action, status):
    session = checkout(shop)
    web.post(session.url, data={"action": "delayed"})
    assert "The bank pays" in web.get(session.url).text
    web.post(session.url, data={"action": action})
    assert shop.v1.checkout.sessions.retrieve(session.id).payment_status == status
    assert "The bank pays" not in web.get(session.url).text
    assert ("declined by the bank" in web.get("/").text) == (action == "fail")


def test_the_page_shows_the_custom_fields(shop, web):
    label = {"type": "custom", "custom": "Your idea"}
    session = checkout(shop, custom_fields=[{"key": "query", "label": label, "type": "text"}])
    assert "Your idea" in web.get(session.url).text
    web.post(session.url, data={"action": "pay", "field-query": "A boat?"})
    paid = shop.v1.checkout.sessions.retrieve(session.id)
    assert paid.custom_fields[0].text.value == "A boat?"


def test_a_closed_or_unknown_payment_page_says_so(sandbox, shop, web):
    session = checkout(shop)
    sandbox.expire(session.id)
    assert web.get(session.url).status_code == 410
    assert web.post(session.url, data={"action": "pay"}).status_code == 410
    assert web.get("/pay/cs_test_unknown1").status_code == 404
    assert web.post(session.url, data={"action": "dance"}).status_code == 400


def test_the_mailbox_lists_the_newest_first(web):
    send(web, message("The first"))
    send(web, message("The second"))
    text = web.get("/mailbox").text
    assert text.index("The second") < text.index("The first")


def test_a_message_shows_its_text_and_sandboxes_its_html(web):
    send(web, message("<b>Bold</b>"))
    text = web.get("/mailbox/1").text
    assert "&lt;b&gt;Bold&lt;/b&gt;" in text
    assert "The verdict is GREEN – it holds." in text
    assert '<iframe title="The message as HTML" sandbox="allow-popups ' in text
    assert "allow-scripts" not in text
    assert "<script>" not in text
    assert "&lt;verdict-1@oracle.example&gt;" in text
    assert "Message-ID: <verdict-1@oracle.example>" in web.get("/mailbox/1/raw").text
    assert web.get("/mailbox/99").status_code == 404


def test_links_in_a_message_can_be_followed(web):
    mail = message()
    mail.clear_content()
    mail.set_content("Read it at http://127.0.0.1:8000/oracle/result?session_id=cs_test_1&a=b.\n")
    mail.add_alternative("<html><head></head><body>Hi</body></html>", subtype="html")
    send(web, mail)
    text = web.get("/mailbox/1").text
    address = "http://127.0.0.1:8000/oracle/result?session_id=cs_test_1&amp;a=b"
    assert f'<a href="{address}" target="_blank" rel="noopener">{address}</a>.' in text
    assert "&lt;head&gt;&lt;base target=&quot;_blank&quot;&gt;" in text


def test_the_overview_shows_everything(sandbox, shop, web):
    empty = web.get("/").text
    assert "No checkout sessions yet." in empty
    assert "No messages yet." in empty
    sandbox.pay(checkout(shop).id)
    checkout(shop)
    send(web, message("Read me"))
    sandbox.fault("gemini", "unavailable", times=None, match="<i>")
    text = web.get("/").text
    for word in ("paid", "open", "Read me", "unavailable", "&lt;i&gt;", "/v1/checkout/sessions"):
        assert word in text


def test_pages_load_no_external_resources_or_scripts(web):
    for path in ("/", "/mailbox"):
        policy = web.get(path).headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
