"""In-memory store of sessions, charges, refunds and events.

Objects are dictionaries as in Stripe's API. State changes hold `lock`; no
network request is made while holding it.
"""

import time
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from sandbox.capped_store import CappedStore
from sandbox.stripe.events import Event, new_event
from sandbox.stripe.idempotency import Idempotency
from sandbox.stripe.ids import new_id


@dataclass(slots=True)
class Session:
    """A Checkout Session, with product texts for the hosted page."""

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
    def awaits_settlement(self) -> bool:
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
        """The charge as in Stripe's API, which does not reference the Checkout Session."""
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


class StripeStore:
    def __init__(self) -> None:
        self.lock = RLock()
        self.sessions: CappedStore[Session] = CappedStore()
        self.charges: CappedStore[Charge] = CappedStore()  # by payment intent
        self.refunds: CappedStore[dict[str, Any]] = CappedStore()
        self.events: CappedStore[Event] = CappedStore()
        self.idempotency = Idempotency()

    def record_event(self, kind: str, obj: dict[str, Any]) -> Event:
        """Store an event with a snapshot of the object."""
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
