"""Simulated customers: they order, pay, read and return over HTTP, with retries."""

import time
from threading import Lock
from typing import Any, Final, Self

import httpx

from drill.failures import RetriesExhausted
from drill.invariants.facts import ClientFacts
from drill.load.workload import REFUSED, VERDICT, Customer
from sandbox.client import SandboxClient

MAX_TRIES: Final = 300  # a count, not a time: a machine that stalls must not fail the drill
RETRY_PAUSE: Final = 0.5
REQUEST_TIMEOUT: Final = 40.0  # seconds
PAYMENT_KNOWN: Final = (200, 202, 422)
# How reading an evicted page can end: regenerated, rejected, rate-limited or model unavailable.
FINAL_STATUSES: Final = (200, 422, 429, 503)
MAX_READS: Final = 120  # twice as long as the claim of a killed regeneration lasts
NO_RESPONSE: Final = 0


class CustomerClient:
    """Thread-safe: used for many customers at once."""

    def __init__(self, url: str, sandbox: SandboxClient, facts: ClientFacts) -> None:
        self._http = httpx.Client(
            base_url=url,
            timeout=REQUEST_TIMEOUT,
            trust_env=False,
            limits=httpx.Limits(max_connections=100),
        )
        self._sandbox = sandbox
        self._facts, self._lock = facts, Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def buy(self, customer: Customer) -> str:
        """The id of the session, paid or not. Raises RetriesExhausted."""
        self._inject_faults(customer)
        session = self._checkout(customer)
        self._pay(customer, session)
        if customer.number % 2:
            self.read(session, page=True)
        return session

    def read(self, session: str, *, page: bool = False) -> httpx.Response | None:
        """The result page or the API's response; None where the connection failed."""
        path = "/oracle/result" if page else "/api/verdict"
        return self._send("GET", path, params={"session_id": session})

    def read_evicted(self, customer: Customer, session: str) -> None:
        """Read a page that has to be regenerated, with the customer's fault for it."""
        fault = customer.regeneration
        if fault == "malformed":
            self._add_fault("gemini", fault, customer.marker, mark=customer.canary)
        elif fault == "slow":
            self._add_fault("gemini", fault, customer.marker, seconds=2.0)
        elif fault != "same":
            times = 3 if fault == "unavailable" else 1
            self._add_fault("gemini", fault, customer.marker, times)
        self.read(session)

    def read_until_final(self, session: str) -> bool:
        """Whether an evicted page is regenerated or refused before MAX_READS."""
        for _ in range(MAX_READS):
            response = self.read(session)
            if response is not None and response.status_code in FINAL_STATUSES:
                return True
            time.sleep(RETRY_PAUSE)
        return False

    def _inject_faults(self, customer: Customer) -> None:
        marker = customer.marker
        if customer.webhook_fault:
            rule = customer.webhook_fault
            self._add_fault("webhook", rule.fault, marker, seconds=rule.seconds)
        for rule in customer.model_faults:
            self._add_fault("gemini", rule.fault, marker, rule.times, seconds=rule.seconds)
        if customer.model_answer == REFUSED:
            self._add_fault("gemini", REFUSED, marker, None)
        elif customer.model_answer != VERDICT:
            self._add_fault("gemini", customer.model_answer, marker, None, mark=customer.canary)
        for rule in customer.mail_faults:
            self._add_fault("graph", rule.fault, customer.email, rule.times, seconds=rule.seconds)

    def _add_fault(
        self, target: str, fault: str, match: str, times: int | None = 1, **more: Any
    ) -> None:
        given = {name: value for name, value in more.items() if value is not None}
        self._sandbox.fault(target, fault, times=times, match=match, **given)

    def _checkout(self, customer: Customer) -> str:
        order = {"tier": customer.tier, "query": customer.query, "email": customer.email}
        for _ in range(MAX_TRIES):
            response = self._send("POST", "/api/checkout", json=order)
            if response is not None and response.status_code == httpx.codes.CREATED:
                return str(response.json()["session_id"])
            time.sleep(RETRY_PAUSE)
        raise RetriesExhausted(f"{customer.marker}: checkout never succeeded")

    def _pay(self, customer: Customer, session: str) -> None:
        if customer.payment == "abandoned":
            self._sandbox.expire(session)
            return
        if customer.refund == "before_payment_event":
            self._pay_refund_event_first(customer, session)
            return
        method = "card" if customer.payment == "card" else "delayed"
        paid = self._sandbox.pay(session, email=customer.email, method=method)
        if method == "delayed":
            self._sandbox.settle(session, succeeded=customer.payment == "delayed")
        elif customer.webhook_lost:
            self._recover_payment(customer, session, str(paid["event_id"]))
        if customer.refund:
            self._sandbox.refund(session)

    def _pay_refund_event_first(self, customer: Customer, session: str) -> None:
        """Pay and refund; the refund's event is accepted before the payment's is sent."""
        paid = self._sandbox.pay(session, email=customer.email, announce=False)
        for event in (self._sandbox.refund(session), paid):
            self._deliver_event(customer, str(event["event_id"]))

    def _deliver_event(self, customer: Customer, event_id: str) -> None:
        for _ in range(MAX_TRIES):
            if self._sandbox.resend(event_id) == [httpx.codes.OK]:
                return
            time.sleep(RETRY_PAUSE)
        raise RetriesExhausted(f"{customer.marker}: an event of Stripe was never accepted")

    def _recover_payment(self, customer: Customer, session: str, event_id: str) -> None:
        """The payment event was lost: it is redelivered, or found by the customer's own read."""
        for _ in range(MAX_TRIES):
            if self._is_payment_known(customer, session, event_id):
                return
            time.sleep(RETRY_PAUSE)
        raise RetriesExhausted(f"{customer.marker}: the payment was never recorded")

    def _is_payment_known(self, customer: Customer, session: str, event_id: str) -> bool:
        if customer.recovery == "redelivery":
            return self._sandbox.resend(event_id) == [httpx.codes.OK]
        response = self.read(session)
        if response is None or response.status_code not in PAYMENT_KNOWN:
            return False
        # "asking": Stripe is being asked, and the payment is not recorded yet.
        return bool(response.json().get("status") != "asking")

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        started = time.monotonic()
        try:
            response = self._http.request(method, path, **more)
        except httpx.TransportError:
            response = None
        seconds = time.monotonic() - started
        with self._lock:
            facts = self._facts
            status = NO_RESPONSE if response is None else response.status_code
            facts.responses[status] += 1
            request = f"{method} {path} {status or 'no response'}"
            facts.slowest = max(facts.slowest, (seconds, request))
            if response is not None and "canary-" in response.text:
                facts.leaks.append(f"a response of {path}")
        return response
