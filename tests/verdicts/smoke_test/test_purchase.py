"""Payments that do not come, that come without Stripe's event, or that would be real."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.utils import timezone

from verdicts.models import Order, Status, StripeEvent
from verdicts.smoke_test.failures import Failed
from verdicts.smoke_test.purchase import buy, webhook

pytestmark = pytest.mark.django_db


@pytest.fixture
def selling() -> Iterator[dict[str, str]]:
    """A site that answers a checkout with what is in here, whatever Stripe would say."""

    class Site(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(int(answer.get("status", 201)))
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        answer = {"site": f"http://127.0.0.1:{server.server_port}"}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield answer
        server.shutdown()


def known(session_id: str) -> Order:
    return Order.objects.create(
        session_id=session_id, tier="full", query="?", price_cents=500, currency="cad"
    )


def test_a_session_that_would_cost_real_money_is_neither_offered_nor_counted(selling, run):
    """The command's own key is of the test mode; the site's is not."""
    order = known("cs_live_a1B2c3D4e5")
    selling |= {"session_id": order.session_id, "url": "https://checkout.example/real"}
    said: list[str] = []
    one = run(selling["site"])
    one.say = said.append
    with pytest.raises(Failed) as failed:
        buy(one, "?")
    assert "real money" in failed.value.seen
    assert "do not pay" in failed.value.todo
    assert said == []
    order.refresh_from_db()
    assert order.smoke


def test_a_page_that_nobody_pays_on_is_printed_and_then_given_up(selling, run):
    order = known("cs_test_a1B2c3D4e5")
    selling |= {"session_id": order.session_id, "url": "https://checkout.example/test"}
    said: list[str] = []
    one = run(selling["site"])
    one.say = said.append
    with pytest.raises(Failed, match="the order is waiting for payment"):
        buy(one, "?")
    assert said[0] == "pay here https://checkout.example/test"
    assert "4242" in said[1]


def test_an_order_with_another_query_is_a_customers_and_not_marked(selling, run):
    """Whatever answers at --site names a session; that it is the one just made is to be seen."""
    order = known("cs_test_a1B2c3D4e5")
    selling |= {"session_id": order.session_id, "url": "https://checkout.example/test"}
    with pytest.raises(Failed, match="no unpaid order by its session id with the query"):
        buy(run(selling["site"]), "A ferry?")
    order.refresh_from_db()
    assert not order.smoke


def test_a_refused_checkout_is_told_in_the_sites_own_words(selling, run):
    selling |= {"status": "503", "title": "Payments are not available", "detail": "Nothing."}
    with pytest.raises(Failed, match="saw 503 Payments are not available Nothing"):
        buy(run(selling["site"]), "?")


@pytest.fixture
def paid(run, bought):
    """A run whose order is paid, as the buyer's redirect found out."""
    one = run()
    one.order, one.last_event = bought(), 0
    assert one.order.status == Status.PAID
    return one


def event(order: Order, **changes: object) -> StripeEvent:
    return StripeEvent.objects.create(
        event_id="evt_1",
        type="checkout.session.completed",
        object=json.dumps({"id": order.session_id}),
        **changes,
    )


def test_a_payment_without_its_event_is_no_payment_that_stripe_told_of(paid, settings):
    with pytest.raises(Failed) as failed:
        webhook(paid)
    assert failed.value.seen == "none has arrived"
    assert f"{settings.SITE_URL}/api/webhook" in failed.value.todo


def test_an_event_that_waits_is_told_as_such(paid):
    event(paid.order)
    with pytest.raises(Failed, match="could not be processed"):
        webhook(paid)


def test_an_event_from_before_is_none_of_this_run(paid):
    paid.last_event = event(paid.order, processed_at=timezone.now()).pk
    with pytest.raises(Failed, match="none has arrived"):
        webhook(paid)
    paid.last_event -= 1
    assert webhook(paid).startswith("checkout.session.completed")
