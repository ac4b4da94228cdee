"""State changes of a session: pay, settle, expire, refund, fail a refund.

Each change and its event are made under the store's lock; the event is only
queued, no network request is made here.
"""

import time
from typing import Any, Literal

from sandbox.state import State
from sandbox.stripe.custom_fields import fill_custom_fields
from sandbox.stripe.errors import StripeError, no_such
from sandbox.stripe.events import Event
from sandbox.stripe.ids import new_id
from sandbox.stripe.session import customer_details
from sandbox.stripe.store import Charge, Session

Method = Literal["card", "delayed"]


class InvalidState(StripeError):
    """The session is not in a state that allows this."""


def find_session(state: State, session_id: str) -> Session:
    """The session, expired first if it is past `expires_at`. Raises Stripe's 404."""
    session = state.stripe.sessions.get(session_id)
    if session is None:
        raise no_such("checkout.session", session_id)
    if session.is_open and session.data["expires_at"] <= time.time():
        expire(state, session)
    return session


def pay(
    state: State,
    session: Session,
    *,
    method: Method = "card",
    email: str | None = None,
    answers: dict[str, str] | None = None,
    announce: bool = True,
) -> Event:
    """Complete the session. With a delayed method it stays unpaid until `settle`."""
    paid = method == "card"
    data = session.data
    with state.stripe.lock:
        if not session.is_open:
            raise InvalidState(f"This Checkout Session is {data['status']}.")
        email = email or data["customer_email"]
        fill_custom_fields(data["custom_fields"], answers or {})
        data |= {
            "status": "complete",
            "payment_status": "paid" if paid else "unpaid",
            "customer_details": customer_details(email),
            "url": None,
        }
        record_charge(state, session, "succeeded" if paid else "pending")
        event = state.stripe.record_event("checkout.session.completed", data)
    if announce:
        state.webhooks.send(event)
    return event


def record_charge(state: State, session: Session, status: str) -> None:
    """Store the charge of a completed session, so that it can be refunded."""
    data = session.data
    data["payment_intent"] = data["payment_intent"] or new_id("pi")
    email = (data["customer_details"] or {}).get("email")
    charge = Charge(
        payment_intent=data["payment_intent"],
        amount=data["amount_total"],
        currency=data["currency"],
        email=email,
        session_id=session.id,
        status=status,
    )
    state.stripe.charges.put(charge.payment_intent, charge)


def settle(state: State, session: Session, *, succeeded: bool) -> Event:
    """A delayed payment succeeds or fails."""
    with state.stripe.lock:
        charge = state.stripe.charge_of(session)
        if not session.awaits_settlement or charge is None or charge.status != "pending":
            raise InvalidState("This Checkout Session is not waiting for a bank.")
        charge.status = "succeeded" if succeeded else "failed"
        if succeeded:
            session.data["payment_status"] = "paid"
        outcome = "succeeded" if succeeded else "failed"
        event = state.stripe.record_event(f"checkout.session.async_payment_{outcome}", session.data)
    state.webhooks.send(event)
    return event


def expire(state: State, session: Session) -> Event | None:
    """Expire an open session; None if it was not open."""
    with state.stripe.lock:
        if not session.is_open:
            return None
        session.data |= {"status": "expired", "url": None}
        event = state.stripe.record_event("checkout.session.expired", session.data)
    state.webhooks.send(event)
    return event


def refund(
    state: State,
    charge: Charge,
    *,
    amount: int | None,
    reason: str | None = None,
    metadata: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Refund `amount`, or everything not yet refunded."""
    with state.stripe.lock:
        refundable = charge.amount - charge.refunded
        amount = refundable if amount is None else amount
        if charge.status != "succeeded":
            raise StripeError(
                f"This PaymentIntent ({charge.payment_intent}) does not have a successful "
                "charge to refund."
            )
        if refundable <= 0:
            raise StripeError(
                f"Charge {charge.id} has already been refunded.", code="charge_already_refunded"
            )
        if not 1 <= amount <= refundable:
            raise StripeError(
                f"Refund amount ({amount / 100:.2f}) is greater than unrefunded amount on charge "
                f"({refundable / 100:.2f})",
                param="amount",
            )
        charge.refunded += amount
        created = {
            "id": new_id("re"),
            "object": "refund",
            "amount": amount,
            "balance_transaction": new_id("txn"),
            "charge": charge.id,
            "created": int(time.time()),
            "currency": charge.currency,
            "destination_details": {"type": "card"},
            "metadata": metadata or {},
            "payment_intent": charge.payment_intent,
            "reason": reason,
            "receipt_number": None,
            "source_transfer_reversal": None,
            "status": "succeeded",
            "transfer_reversal": None,
        }
        state.stripe.refunds.put(str(created["id"]), created)
        event = state.stripe.record_event("charge.refunded", charge.as_dict())
    state.webhooks.send(event)
    return created


def fail_refund(state: State, charge: Charge) -> dict[str, Any] | None:
    """The last refund fails, as it can days later at a bank. None if there is no refund."""
    with state.stripe.lock:
        refunds = [one for one in state.stripe.refunds.newest_first() if one["charge"] == charge.id]
        last = next((one for one in refunds if one["status"] == "succeeded"), None)
        if last is None:
            return None
        charge.refunded -= last["amount"]
        last |= {"status": "failed", "failure_reason": "expired_or_canceled_card"}
        kinds = ("refund.failed", "charge.refund.updated")
        events = [state.stripe.record_event(kind, last) for kind in kinds]
    for event in events:
        state.webhooks.send(event)
    return last
