"""Missing payments, payments without Stripe's event, and real payments."""

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
def fake_site() -> Iterator[dict[str, str]]:
    """A site that responds to a checkout with the contents of this dict."""

    class Site(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(int(response.get("status", 201)))
            self.end_headers()
            self.wfile.write(json.dumps(response).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        response = {"site": f"http://127.0.0.1:{server.server_port}"}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield response
        server.shutdown()


def create_order(session_id: str) -> Order:
    return Order.objects.create(
        session_id=session_id, tier="full", query="?", price_cents=500, currency="cad"
    )


def test_a_live_mode_session_is_not_offered_and_its_order_is_marked(fake_site, run):
    """The command has a test key, the site does not."""
    order = create_order("cs_live_a1B2c3D4e5")
    fake_site |= {"session_id": order.session_id, "url": "https://checkout.example/real"}
    printed: list[str] = []
    one = run(fake_site["site"])
    one.print_line = printed.append
    with pytest.raises(Failed) as failed:
        buy(one, "?")
    assert "real money" in failed.value.seen
    assert "do not pay" in failed.value.todo
    assert printed == []
    order.refresh_from_db()
    assert order.smoke


def test_a_missing_payment_fails_after_the_url_was_printed(fake_site, run):
    order = create_order("cs_test_a1B2c3D4e5")
    fake_site |= {"session_id": order.session_id, "url": "https://checkout.example/test"}
    printed: list[str] = []
    one = run(fake_site["site"])
    one.print_line = printed.append
    with pytest.raises(Failed, match="the order is waiting for payment"):
        buy(one, "?")
    assert printed[0] == "pay here https://checkout.example/test"
    assert "4242" in printed[1]


def test_an_order_with_another_query_is_not_marked(fake_site, run):
    """Whatever responses at --site names a session; that it is the one just made is to be seen."""
    order = create_order("cs_test_a1B2c3D4e5")
    fake_site |= {"session_id": order.session_id, "url": "https://checkout.example/test"}
    with pytest.raises(Failed, match="no unpaid order by its session id with the query"):
        buy(run(fake_site["site"]), "A ferry?")
    order.refresh_from_db()
    assert not order.smoke


def test_a_failed_checkout_quotes_the_response(fake_site, run):
    fake_site |= {"status": "503", "title": "Payments are not available", "detail": "Nothing."}
    with pytest.raises(Failed, match="saw 503 Payments are not available Nothing"):
        buy(run(fake_site["site"]), "?")


@pytest.fixture
def paid(run, bought):
    """A run whose order is paid, found by the buyer's redirect."""
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


def test_a_paid_order_without_its_event_fails(paid, settings):
    with pytest.raises(Failed) as failed:
        webhook(paid)
    assert failed.value.seen == "none has arrived"
    assert f"{settings.SITE_URL}/api/webhook" in failed.value.todo


def test_an_unprocessed_event_fails(paid):
    event(paid.order)
    with pytest.raises(Failed, match="could not be processed"):
        webhook(paid)


def test_an_event_of_an_earlier_run_does_not_count(paid):
    paid.last_event = event(paid.order, processed_at=timezone.now()).pk
    with pytest.raises(Failed, match="none has arrived"):
        webhook(paid)
    paid.last_event -= 1
    assert webhook(paid).startswith("checkout.session.completed")
