"""Delivers signed events to the product in the background, with retries.

A thread pool takes deliveries from a heap ordered by due time, so a delivery
that waits for its retry occupies no thread. Fault rules make deliveries
duplicate, late or out of order, as Stripe's can be.
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

# About two minutes in total; after that the event can be resent through /_control/.
RETRY_DELAYS: Final = (0.2, 0.5, 1.0, 2.0, *([5.0] * 23))
THREAD_COUNT: Final = 16
TIMEOUT_SECONDS: Final = 10.0
STALE_SECONDS: Final = 600
WRONG_SECRET: Final = "whsec_wrong"  # noqa: S105 - not a secret


@dataclass(order=True, slots=True)
class _Delivery:
    due: float
    number: int
    event: Event = field(compare=False)
    attempt: int = field(default=0, compare=False)
    fault: str | None = field(default=None, compare=False)
    generation: int = field(default=0, compare=False)


class WebhookSender:
    def __init__(self, settings: Settings, faults: Faults) -> None:
        self._settings, self._faults = settings, faults
        self._changed = Condition()
        self._heap: list[_Delivery] = []
        self._held: list[_Delivery] = []  # held back until the next event is queued
        self._numbers = count()
        self._busy = 0
        self._generation = 0  # incremented by a reset: older deliveries are not retried
        self._closed = False
        self._threads: list[Thread] = []

    def send(self, event: Event) -> None:
        """Queue the delivery of the event, as changed by the fault rules for webhooks."""
        if self._settings.webhook_url is None:
            return
        rule = self._faults.take("webhook", event.payload.decode())
        fault = rule.fault if rule else None
        if fault == "drop":
            return
        wait = rule.delay(5.0) if rule and fault in ("delay", "reorder") else 0.0
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
        """One attempt, now, without retries: the HTTP status, or the error."""
        return self._attempt(event, fault=None)

    @property
    def pending(self) -> int:
        """Deliveries that are waiting or in progress."""
        with self._changed:
            return len(self._heap) + self._busy

    def clear(self) -> None:
        with self._changed:
            self._heap.clear()
            self._held.clear()
            self._generation += 1

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _queue(self, event: Event, due: float, fault: str | None) -> _Delivery:
        number = next(self._numbers)
        delivery = _Delivery(due, number, event, fault=fault, generation=self._generation)
        heapq.heappush(self._heap, delivery)
        return delivery

    def _release_held(self, overtaker: _Delivery) -> None:
        """Schedule the held deliveries shortly after the one that overtakes them."""
        for held in self._held:
            held.due = min(held.due, overtaker.due + 0.1)
        self._held.clear()
        heapq.heapify(self._heap)

    def _start_threads(self) -> None:
        if not self._threads:
            self._threads = [Thread(target=self._work, daemon=True) for _ in range(THREAD_COUNT)]
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
                self._retry_unless_delivered(delivery, status)

    def _next(self) -> _Delivery | None:
        """Wait for the next due delivery; None when the server stops."""
        while not self._closed:
            wait = self._heap[0].due - time.monotonic() if self._heap else None
            if wait is not None and wait <= 0:
                return heapq.heappop(self._heap)
            self._changed.wait(wait)
        return None

    def _retry_unless_delivered(self, delivery: _Delivery, status: int | str) -> None:
        accepted = isinstance(status, int) and 200 <= status < 300
        forged = delivery.fault in ("bad_signature", "stale_signature")
        given_up = (
            self._closed
            or delivery.generation != self._generation
            or delivery.attempt >= len(RETRY_DELAYS)
        )
        if accepted or forged or given_up:
            return
        delivery.due = time.monotonic() + RETRY_DELAYS[delivery.attempt]
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
