"""The customers: they order, pay, read and come back, over HTTP, and try again when they must."""

import time
from threading import Lock
from typing import Any, Final, Self

import httpx

from drill.failures import GaveUp
from drill.invariants.facts import CustomerFacts
from drill.load.plan import REFUSED, VERDICT, Customer
from sandbox.client import SandboxClient

TRIES: Final = 300  # of one customer: by count, so that a machine that stands still costs none
PAUSE: Final = 0.5
REQUEST_TIMEOUT: Final = 40.0  # seconds for one answer
HEARD: Final = (200, 202, 422)  # an order that is paid for
# What a lost page comes to: made, rejected by the gate, too soon, or without an answer.
ENDS: Final = (200, 422, 429, 503)
LOOKS: Final = 120  # with the pauses twice as long as a dead reader's claim lasts
NO_ANSWER: Final = 0


class Visits:
    """Thread-safe: many customers at once."""

    def __init__(self, url: str, sandbox: SandboxClient, met: CustomerFacts) -> None:
        self._http = httpx.Client(
            base_url=url,
            timeout=REQUEST_TIMEOUT,
            trust_env=False,
            limits=httpx.Limits(max_connections=100),
        )
        self._sandbox = sandbox
        self._met, self._lock = met, Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def buy(self, customer: Customer) -> str:
        """The id of the session that was paid for, or left."""
        self._order_faults(customer)
        session = self._checkout(customer)
        self._pay(customer, session)
        if customer.number % 2:
            self.read(session, page=True)
        return session

    def read(self, session: str, *, page: bool = False) -> httpx.Response | None:
        """The page or the API's answer; None: there was none."""
        path = "/oracle/result" if page else "/api/verdict"
        return self._send("GET", path, params={"session_id": session})

    def _order_faults(self, customer: Customer) -> None:
        mark = customer.mark
        if customer.event:
            self._fault("webhook", customer.event.fault, mark, seconds=customer.event.seconds)
        for trouble in customer.model:
            self._fault("gemini", trouble.fault, mark, trouble.times, seconds=trouble.seconds)
        if customer.answer == REFUSED:
            self._fault("gemini", customer.answer, mark, None)
        elif customer.answer != VERDICT:
            self._fault("gemini", customer.answer, mark, None, mark=customer.canary)
        for trouble in customer.mail:
            to = customer.email
            self._fault("graph", trouble.fault, to, trouble.times, seconds=trouble.seconds)

    def _fault(
        self, target: str, fault: str, match: str, times: int | None = 1, **more: Any
    ) -> None:
        given = {name: value for name, value in more.items() if value is not None}
        self._sandbox.fault(target, fault, times=times, match=match, **given)

    def come_back(self, customer: Customer, session: str) -> None:
        """To a page that is lost, and has to be made again."""
        again = customer.returns
        if again == "malformed":
            self._fault("gemini", again, customer.mark, mark=customer.canary)
        elif again == "slow":
            self._fault("gemini", again, customer.mark, seconds=2.0)
        elif again != "same":
            self._fault("gemini", again, customer.mark, 3 if again == "unavailable" else 1)
        self.read(session)

    def see_the_end(self, session: str) -> bool:
        """Whether a lost page is made again, or refused: somebody is at it for so long only."""
        for _ in range(LOOKS):
            answer = self.read(session)
            if answer is not None and answer.status_code in ENDS:
                return True
            time.sleep(PAUSE)
        return False

    def _checkout(self, customer: Customer) -> str:
        order = {"tier": customer.tier, "query": customer.query, "email": customer.email}
        for _ in range(TRIES):
            answer = self._send("POST", "/api/checkout", json=order)
            if answer is not None and answer.status_code == httpx.codes.CREATED:
                return str(answer.json()["session_id"])
            time.sleep(PAUSE)
        raise GaveUp(f"{customer.mark} cannot order")

    def _pay(self, customer: Customer, session: str) -> None:
        if customer.pays == "leaves":
            self._sandbox.expire(session)
            return
        if customer.refund == "first":
            self._refund_first(customer, session)
            return
        method = "card" if customer.pays == "card" else "delayed"
        paid = self._sandbox.pay(session, email=customer.email, method=method)
        if method == "delayed":
            self._sandbox.settle(session, succeeded=customer.pays == "delayed")
        elif customer.event_is_lost:
            self._rescue(customer, session, str(paid["event_id"]))
        if customer.refund:
            self._sandbox.refund(session)

    def _refund_first(self, customer: Customer, session: str) -> None:
        """Stripe's word of the refund is taken before its word of the payment is sent."""
        paid = self._sandbox.pay(session, email=customer.email, announce=False)
        for event in (self._sandbox.refund(session), paid):
            self._tell(customer, str(event["event_id"]))

    def _tell(self, customer: Customer, event_id: str) -> None:
        for _ in range(TRIES):
            if self._sandbox.resend(event_id) == [httpx.codes.OK]:
                return
            time.sleep(PAUSE)
        raise GaveUp(f"{customer.mark}: an event of Stripe's is not taken")

    def _rescue(self, customer: Customer, session: str, event_id: str) -> None:
        """Stripe's word was lost: it is sent again, or the buyer's own visit tells us."""
        for _ in range(TRIES):
            if self._is_heard(customer, session, event_id):
                return
            time.sleep(PAUSE)
        raise GaveUp(f"{customer.mark} has paid and nobody hears of it")

    def _is_heard(self, customer: Customer, session: str, event_id: str) -> bool:
        if customer.rescue == "resent":
            return self._sandbox.resend(event_id) == [200]
        answer = self.read(session)
        if answer is None or answer.status_code not in HEARD:
            return False
        return bool(answer.json().get("status") != "asking")  # somebody else asks Stripe just now

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        began = time.monotonic()
        try:
            answer = self._http.request(method, path, **more)
        except httpx.TransportError:
            answer = None
        with self._lock:
            met = self._met
            status = NO_ANSWER if answer is None else answer.status_code
            met.answers[status] += 1
            took = time.monotonic() - began
            met.slowest = max(met.slowest, (took, f"{method} {path} {status or 'no answer'}"))
            if answer is not None and "canary-" in answer.text:
                met.leaks.append(f"an answer of {path}")
        return answer
