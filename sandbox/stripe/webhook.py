"""Sends signed events to the product, in the background, until it takes them.

A few threads work through a heap of deliveries by due time, so a delivery that
waits for its next attempt keeps nobody busy. Like Stripe's, deliveries can come
twice, late and out of order; on demand they do.
"""

import heapq
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from threading import Condition, Thread
from typing import Final
from urllib.parse import urlsplit

from sandbox.faults import Faults
from sandbox.settings import Settings
from sandbox.stripe.events import Event, signature

# About two minutes in all; then the event can be sent again by hand.
RETRIES: Final = (0.2, 0.5, 1.0, 2.0, *([5.0] * 23))
THREADS: Final = 16
TIMEOUT_SECONDS: Final = 10.0
STALE_SECONDS: Final = 600
WRONG_SECRET: Final = "whsec_of_somebody_else"  # noqa: S105 - not one


@dataclass(order=True, slots=True)
class _Delivery:
    due: float
    number: int
    event: Event = field(compare=False)
    attempt: int = field(default=0, compare=False)
    fault: str | None = field(default=None, compare=False)
    era: int = field(default=0, compare=False)


class WebhookSender:
    def __init__(self, settings: Settings, faults: Faults) -> None:
        self._settings, self._faults = settings, faults
        self._changed = Condition()
        self._heap: list[_Delivery] = []
        self._held: list[_Delivery] = []  # to be overtaken by the next event
        self._numbers = count()
        self._busy = 0
        self._era = 0  # a reset begins another: what is under way then is not retried
        self._closed = False
        self._threads: list[Thread] = []

    def send(self, event: Event) -> None:
        """Queue the event's delivery, as the fault rules for webhooks would have it."""
        if self._settings.webhook_url is None:
            return
        rule = self._faults.take("webhook", event.payload.decode())
        fault = rule.fault if rule else None
        if fault == "drop":
            return
        wait = rule.wait(5.0) if rule and fault in ("delay", "reorder") else 0.0
        with self._changed:
            self._start_threads()
            delivery = self._queue(event, time.monotonic() + wait, fault)
            if fault == "duplicate":
                self._queue(event, delivery.due, None)
            self._release_held(delivery)
            if fault == "reorder":
                self._held.append(delivery)
            self._changed.notify_all()

    def send_now(self, event: Event) -> int | str:
        """One attempt, at once, without retries: the status, or why there is none."""
        return self._attempt(event, fault=None)

    @property
    def pending(self) -> int:
        """Deliveries that are waiting or under way."""
        with self._changed:
            return len(self._heap) + self._busy

    def forget(self) -> None:
        with self._changed:
            self._heap.clear()
            self._held.clear()
            self._era += 1

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _queue(self, event: Event, due: float, fault: str | None) -> _Delivery:
        number = next(self._numbers)
        delivery = _Delivery(due, number, event, fault=fault, era=self._era)
        heapq.heappush(self._heap, delivery)
        return delivery

    def _release_held(self, overtaker: _Delivery) -> None:
        """What was held back for an overtaker leaves shortly after it."""
        for held in self._held:
            held.due = min(held.due, overtaker.due + 0.1)
        self._held.clear()
        heapq.heapify(self._heap)

    def _start_threads(self) -> None:
        if not self._threads:
            self._threads = [Thread(target=self._work, daemon=True) for _ in range(THREADS)]
            for thread in self._threads:
                thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                delivery = self._next()
                if delivery is None:
                    return
                self._busy += 1
            status = self._attempt(delivery.event, fault=delivery.fault)
            with self._changed:
                self._busy -= 1
                self._retry_unless_taken(delivery, status)

    def _next(self) -> _Delivery | None:
        """Wait for the next delivery that is due; None when the server ends."""
        while not self._closed:
            wait = self._heap[0].due - time.monotonic() if self._heap else None
            if wait is not None and wait <= 0:
                return heapq.heappop(self._heap)
            self._changed.wait(wait)
        return None

    def _retry_unless_taken(self, delivery: _Delivery, status: int | str) -> None:
        taken = isinstance(status, int) and 200 <= status < 300
        forged = delivery.fault in ("bad_signature", "stale_signature")
        over = self._closed or delivery.era != self._era or delivery.attempt >= len(RETRIES)
        if taken or forged or over:
            return
        delivery.due = time.monotonic() + RETRIES[delivery.attempt]
        delivery.attempt += 1
        heapq.heappush(self._heap, delivery)
        self._changed.notify()

    def _attempt(self, event: Event, *, fault: str | None) -> int | str:
        result = self._post(event.payload, fault)
        event.deliveries.append({"at": time.time(), "result": result})
        return result

    def _post(self, payload: bytes, fault: str | None) -> int | str:
        url = self._settings.webhook_url
        if url is None:
            return "no webhook_url is set"
        secret = WRONG_SECRET if fault == "bad_signature" else self._settings.webhook_secret
        at = int(time.time()) - (STALE_SECONDS if fault == "stale_signature" else 0)
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
            "Stripe-Signature": signature(payload, secret, at),
        }
        parts = urlsplit(url)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        try:
            path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
            connection.request("POST", path, payload, headers)
            return connection.getresponse().status
        except (OSError, HTTPException) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            connection.close()
