"""The operations measured on a dataset; each returns the seconds of every repetition.

Requires Django set up and connected to the dataset's database.
"""

import hashlib
import hmac
import io
import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.management import call_command
from django.http import HttpResponseBase
from django.test import Client

from benchmarks.dataset.history import is_delivered, is_regenerated, session_id
from benchmarks.dataset.samples import samples
from oracle_site.wsgi import application
from verdicts.models import CachedVerdict, Order, Status, Verdict
from verdicts.monitoring.metrics import metrics_cache
from verdicts.results.compare import compare
from verdicts.results.reader.lookup import open_lookup
from verdicts.results.reader.requests import CachedRead
from verdicts.results.reader.responses import ResponseBuilder

Seconds = list[float]


class Operations:
    """Picks orders at random and times an operation on each."""

    def __init__(self, orders: int, client: Client) -> None:
        self._orders, self._client = orders, client
        self._random = random.Random(orders)
        self._green = [sample.original.label == "GREEN" for sample in samples(str)]
        self._regenerated: list[int] = []

    def cached_read(self, repetitions: int) -> Seconds:
        """A cache hit, through the reader's code."""
        responses, seconds = ResponseBuilder(), Seconds()
        with closing(open_lookup()) as lookup:
            lookup.find([session_id(1)])  # warm-up: opens the files
            for number in self._sample_orders(repetitions):
                request = CachedRead(session_id(number), secure=True, if_none_match=None)
                with _stopwatch(seconds):
                    entry = lookup.find([request.session_id])[request.session_id]
                    responses.build(entry, request)
        return seconds

    def miss(self, repetitions: int) -> Seconds:
        """A whole request that regenerates the verdict, with a model that responds at once."""
        seconds: Seconds = []
        for number in self._sample_orders(repetitions):
            entry = CachedVerdict.objects.filter(session_id=session_id(number))
            entry.delete()
            Order.objects.filter(session_id=session_id(number)).update(regen_at=None)
            environ = self._environ(session_id(number))
            with _stopwatch(seconds):
                body = _response_body(environ)
            assert json.loads(body)["regen"], body
            self._regenerated += entry.values_list("verdict_id", flat=True)
        return seconds

    def comparison(self, repetitions: int) -> Seconds:
        """The comparison of verdicts that `miss` regenerated."""
        seconds: Seconds = []
        for verdict_id in self._regenerated[-repetitions:]:
            with _stopwatch(seconds):
                event = compare(verdict_id)
            assert event, Verdict.objects.get(pk=verdict_id)
        return seconds

    def webhook(self, repetitions: int) -> Seconds:
        seconds: Seconds = []
        for _ in range(repetitions):
            name = f"{self._random.getrandbits(100):x}"
            order = Order.objects.create(
                session_id=f"cs_test_{name}",
                tier="full",
                query="?",
                price_cents=500,
                currency="cad",
            )
            body = _completed_event(order, name)
            with _stopwatch(seconds):
                response = self._client.post(
                    "/api/webhook",
                    data=body,
                    content_type="application/json",
                    headers={"Stripe-Signature": _signature(body)},
                    secure=True,
                )
            assert response.status_code == 200, response.content
            order.refresh_from_db()
            assert order.status == Status.PAID
        return seconds

    def page(self, path: str) -> Callable[[int], Seconds]:
        def request_page(repetitions: int) -> Seconds:
            seconds: Seconds = []
            for _ in range(repetitions):
                with _stopwatch(seconds):
                    response = self._client.get(path, secure=True)
                assert response.status_code == 200, (path, response.status_code)
            return seconds

        return request_page

    def metrics(self, repetitions: int) -> Seconds:
        seconds: Seconds = []
        token = f"Bearer {settings.ORACLE_SERVICE_TOKENS[0]}"
        for _ in range(repetitions):
            metrics_cache.clear()
            with _stopwatch(seconds):
                response = self._client.get(
                    "/metrics", headers={"Authorization": token}, secure=True
                )
            assert response.status_code == 200, response.content
        return seconds

    def report(self, repetitions: int) -> Seconds:
        out = io.StringIO()
        return [
            _timed(lambda: call_command("divergence_report", stdout=out))
            for _ in range(repetitions)
        ]

    def _sample_orders(self, repetitions: int) -> Iterator[int]:
        found = 0
        while found < repetitions:
            number = self._random.randrange(1, self._orders + 1)
            # The sandbox regenerates GREEN: without a divergence no email is queued.
            green = self._green[number % len(self._green)]
            if green and is_delivered(number) and not is_regenerated(number):
                found += 1
                yield number

    def _environ(self, session: str) -> dict[str, object]:
        environ: dict[str, object] = {
            "PATH_INFO": "/api/verdict",
            "QUERY_STRING": f"session_id={session}",
            "HTTP_HOST": "127.0.0.1",
            "wsgi.url_scheme": "https",
        }
        setup_testing_defaults(environ)
        return environ


def _response_body(environ: dict[str, object]) -> bytes:
    """The body, read to its end and closed as by a WSGI server."""
    response = application(environ, _start_response)
    body = b"".join(response)
    if isinstance(response, HttpResponseBase):  # a list if rejected before Django
        response.close()
    return body


def _start_response(status: str, *_: object) -> Callable[[bytes], object]:
    assert status.startswith("200"), status
    return len


def _timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


@contextmanager
def _stopwatch(seconds: Seconds) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds.append(time.perf_counter() - started)


def _completed_event(order: Order, name: str) -> bytes:
    session = {
        "id": order.session_id,
        "object": "checkout.session",
        "amount_subtotal": order.price_cents,
        "amount_total": order.price_cents,
        "currency": order.currency,
        "customer_details": {"email": f"{name}@example.com"},
        "metadata": {"tier": order.tier, "query_0": order.query},
        "payment_intent": f"pi_{name}",
        "payment_status": "paid",
        "status": "complete",
    }
    event = {"id": f"evt_{name}", "object": "event", "type": "checkout.session.completed"}
    return json.dumps({**event, "data": {"object": session}}).encode()


def _signature(body: bytes) -> str:
    timestamp, secret = int(time.time()), settings.STRIPE_WEBHOOK_SECRETS[0]
    signed = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={signed}"
