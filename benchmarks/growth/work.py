"""What is measured in a house: each returns the seconds that every one of its turns took.

Django is set up and on the house's database when any of these is called.
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

from benchmarks.dataset.ideas import ideas
from benchmarks.dataset.past import is_delivered, is_regenerated, session_id
from oracle_site.wsgi import application
from verdicts.models import CachedVerdict, Order, Status, Verdict
from verdicts.monitoring.metrics import metrics_cache
from verdicts.results.compare import compare
from verdicts.results.reader.lookup import open_lookup
from verdicts.results.reader.requests import CachedRead
from verdicts.results.reader.responses import ResponseBuilder

Seconds = list[float]


class Turns:
    """Chooses orders at random and times what is done about them."""

    def __init__(self, orders: int, client: Client) -> None:
        self._orders, self._client = orders, client
        self._random = random.Random(orders)
        self._green = [idea.original.label == "GREEN" for idea in ideas(str)]
        self._regenerated: list[int] = []

    def cached_read(self, turns: int) -> Seconds:
        """A hit, as the reader answers it."""
        responses, took = ResponseBuilder(), Seconds()
        with closing(open_lookup()) as lookup:
            lookup.find([session_id(1)])  # the first one opens the files
            for number in self._some(turns):
                asked = CachedRead(session_id(number), secure=True, if_none_match=None)
                with _stopwatch(took):
                    entry = lookup.find([asked.session_id])[asked.session_id]
                    responses.build(entry, asked)
        return took

    def miss(self, turns: int) -> Seconds:
        """A whole request that brings a regeneration about, the model answering at once."""
        took: Seconds = []
        for number in self._some(turns):
            entry = CachedVerdict.objects.filter(session_id=session_id(number))
            entry.delete()
            Order.objects.filter(session_id=session_id(number)).update(regen_at=None)
            environ = self._environ(session_id(number))
            with _stopwatch(took):
                body = _answer(environ)
            assert json.loads(body)["regen"], body
            self._regenerated += entry.values_list("verdict_id", flat=True)
        return took

    def comparison(self, turns: int) -> Seconds:
        """Of what `miss` has made."""
        took: Seconds = []
        for verdict_id in self._regenerated[-turns:]:
            with _stopwatch(took):
                event = compare(verdict_id)
            assert event, Verdict.objects.get(pk=verdict_id)
        return took

    def webhook(self, turns: int) -> Seconds:
        took: Seconds = []
        for _ in range(turns):
            name = f"{self._random.getrandbits(100):x}"
            order = Order.objects.create(
                session_id=f"cs_test_{name}",
                tier="full",
                query="?",
                price_cents=500,
                currency="cad",
            )
            body = _completed(order, name)
            with _stopwatch(took):
                answer = self._client.post(
                    "/api/webhook",
                    data=body,
                    content_type="application/json",
                    headers={"Stripe-Signature": _signature(body)},
                    secure=True,
                )
            assert answer.status_code == 200, answer.content
            order.refresh_from_db()
            assert order.status == Status.PAID
        return took

    def page(self, path: str) -> Callable[[int], Seconds]:
        def turns(number: int) -> Seconds:
            took: Seconds = []
            for _ in range(number):
                with _stopwatch(took):
                    answer = self._client.get(path, secure=True)
                assert answer.status_code == 200, (path, answer.status_code)
            return took

        return turns

    def metrics(self, turns: int) -> Seconds:
        took: Seconds = []
        token = f"Bearer {settings.ORACLE_SERVICE_TOKENS[0]}"
        for _ in range(turns):
            metrics_cache.clear()
            with _stopwatch(took):
                answer = self._client.get("/metrics", headers={"Authorization": token}, secure=True)
            assert answer.status_code == 200, answer.content
        return took

    def report(self, turns: int) -> Seconds:
        out = io.StringIO()
        return [_timed(lambda: call_command("divergence_report", stdout=out)) for _ in range(turns)]

    def _some(self, turns: int) -> Iterator[int]:
        found = 0
        while found < turns:
            number = self._random.randrange(1, self._orders + 1)
            # As the sandbox is told to answer: what agrees leads to no further email.
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


def _answer(environ: dict[str, object]) -> bytes:
    """The body, taken as a web server takes it: to its end, and closed where it can be."""
    answer = application(environ, _ok)
    body = b"".join(answer)
    if isinstance(answer, HttpResponseBase):  # not a refusal before Django
        answer.close()
    return body


def _ok(status: str, *_: object) -> Callable[[bytes], object]:
    assert status.startswith("200"), status
    return len


def _timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


@contextmanager
def _stopwatch(took: Seconds) -> Iterator[None]:
    started = time.perf_counter()
    yield
    took.append(time.perf_counter() - started)


def _completed(order: Order, name: str) -> bytes:
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
    stamp, secret = int(time.time()), settings.STRIPE_WEBHOOK_SECRETS[0]
    signed = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={signed}"
