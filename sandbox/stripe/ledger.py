"""What the stand-in for Stripe has on its books: sessions, charges, refunds, events.

Objects are kept as the dictionaries that Stripe's API would show. A change of
state happens under `lock`; the network is never used while holding it.
"""

import time
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from sandbox.bounded import Bounded
from sandbox.stripe.events import Event, new_event
from sandbox.stripe.idempotency import Idempotency
from sandbox.stripe.ids import new_id


@dataclass(slots=True)
class Session:
    """A Checkout Session, and what only the hosted page needs to know of it."""

    data: dict[str, Any]
    product: str = "Order"
    description: str = ""

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def is_open(self) -> bool:
        return bool(self.data["status"] == "open")

    @property
    def awaits_the_bank(self) -> bool:
        """Completed with a delayed method that has neither paid nor failed yet."""
        return (self.data["status"], self.data["payment_status"]) == ("complete", "unpaid")


@dataclass(slots=True)
class Charge:
    payment_intent: str
    amount: int
    currency: str
    email: str | None
    session_id: str
    status: str  # pending, succeeded, failed
    id: str = field(default_factory=lambda: new_id("ch"))
    created: int = field(default_factory=lambda: int(time.time()))
    refunded: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Stripe's charge. Like the real one it names no Checkout Session."""
        return {
            "id": self.id,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.amount if self.status == "succeeded" else 0,
            "amount_refunded": self.refunded,
            "billing_details": {
                "address": None,
                "email": self.email,
                "name": None,
                "phone": None,
                "tax_id": None,
            },
            "captured": self.status == "succeeded",
            "created": self.created,
            "currency": self.currency,
            "customer": None,
            "description": None,
            "disputed": False,
            "livemode": False,
            "metadata": {},
            "paid": self.status == "succeeded",
            "payment_intent": self.payment_intent,
            "receipt_email": None,
            "refunded": self.refunded >= self.amount,
            "status": self.status,
        }


class Ledger:
    def __init__(self) -> None:
        self.lock = RLock()
        self.sessions: Bounded[Session] = Bounded()
        self.charges: Bounded[Charge] = Bounded()  # by payment intent
        self.refunds: Bounded[dict[str, Any]] = Bounded()
        self.events: Bounded[Event] = Bounded()
        self.idempotency = Idempotency()

    def enter(self, kind: str, obj: dict[str, Any]) -> Event:
        """Put on record that something happened to an object, as it is now."""
        event = new_event(kind, obj)
        self.events.put(event.id, event)
        return event

    def charge_of(self, session: Session) -> Charge | None:
        return self.charges.get(str(session.data["payment_intent"]))

    def clear(self) -> None:
        with self.lock:
            for store in (self.sessions, self.charges, self.refunds, self.events):
                store.clear()
            self.idempotency.clear()
