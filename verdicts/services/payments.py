"""What Stripe tells us, from an event or from a re-read, becomes the state of an order.

An event is stored by itself before anything is done about it; then one
transaction claims it, moves the order and queues the job. A failure undoes all
three, and the event stays to be replayed. Events come twice and in any order:
every move is a compare-and-swap from the states it may come from.
"""

import json
import logging
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit.core.redaction import short_hash
from verdicts import queue
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.gateways.stripe_api import Event
from verdicts.models import UNPAID, Delivery, Order, Status, StripeEvent
from verdicts.services.deliver import owe

logger = logging.getLogger(__name__)

REFUNDED: Final = "charge.refunded"


def receive(event: Event) -> StripeEvent:
    """Store the event, then act on it, once. A repeated delivery returns the stored one."""
    stored, _ = StripeEvent.objects.get_or_create(
        event_id=event.id,
        defaults={
            "type": event.type[:100],
            "object": json.dumps(event.object),
            "payment_intent": _intent(event.object) if event.type == REFUNDED else "",
        },
    )
    process(stored)
    return stored


def process(stored: StripeEvent) -> bool:
    """Act on a stored event unless somebody has. False: there was nothing left to do."""
    act = _ACTIONS.get(stored.type)
    with transaction.atomic():
        claimed = StripeEvent.objects.filter(pk=stored.pk, processed_at=None).update(
            processed_at=timezone.now()
        )
        if not claimed:
            return False
        outcome = act(json.loads(stored.object)) if act else "not of our kind"
        StripeEvent.objects.filter(pk=stored.pk).update(outcome=outcome[:100])
    return True


def accept_payment(session: CheckoutSession) -> str:
    """Mark the session's order paid and queue its verdict, once. Call inside a transaction."""
    order = _order_for(session)
    paid = {
        "paid_at": timezone.now(),
        "due_at": timezone.now(),
        "payment_intent": session.payment_intent,
        "email": session.email or order.email,
    }
    if (session.amount_cents, session.currency) != (order.price_cents, order.currency):
        reason = (
            f"paid {session.amount_cents} {session.currency}, "
            f"the price was {order.price_cents} {order.currency}"
        )
        if order.move(UNPAID, Status.HELD, reason=reason[:200], **paid):
            owe(order, Delivery.Kind.STAFF)
            return "held: another amount"
        return "already paid"
    if not order.move(UNPAID, Status.PAID, **paid):
        return "already paid"  # another delivery got there first
    _apply_earlier_refunds(order)
    queue.enqueue(queue.FULFIL, order.pk)
    return "paid"


def _completed(raw: dict[str, Any]) -> str:
    session = read_session(raw)
    if session is None:
        return "not our session"
    if session.payment == "paid":
        return accept_payment(session)
    order = _order_for(session)
    moved = order.move([Status.CREATED], Status.AWAITING, email=session.email or order.email)
    return "awaiting payment" if moved else "already further on"


def _failed(raw: dict[str, Any]) -> str:
    return _end_unpaid(raw, [Status.CREATED, Status.AWAITING], Status.PAYMENT_FAILED)


def _expired(raw: dict[str, Any]) -> str:
    return _end_unpaid(raw, [Status.CREATED], Status.EXPIRED)


def _end_unpaid(raw: dict[str, Any], sources: list[Status], target: Status) -> str:
    session = read_session(raw)
    if session is None:
        return "not our session"
    return target.value if _order_for(session).move(sources, target) else "already further on"


def _refunded(charge: dict[str, Any]) -> str:
    """A refund, made here or in Stripe's dashboard; it names the payment, not the session."""
    order = (
        Order.objects.filter(payment_intent=_intent(charge)).first() if _intent(charge) else None
    )
    if order is None:
        return "no such payment here"  # it may yet come: see _apply_earlier_refunds
    return _note_refund(order, charge)


def _note_refund(order: Order, charge: dict[str, Any]) -> str:
    refunded, amount = charge.get("amount_refunded"), charge.get("amount")
    if type(refunded) is not int or type(amount) is not int or refunded <= 0:
        return "no amount"
    # Reports may overtake each other: the largest sum is the latest.
    Order.objects.filter(pk=order.pk, refunded_cents__lt=refunded).update(refunded_cents=refunded)
    if refunded < amount:
        return "refunded in part"
    if Order.objects.filter(pk=order.pk, refunded_at=None).update(refunded_at=timezone.now()):
        # Who has the money back is owed no verdict; one that is out stays out.
        order.move(
            [Status.PAID, Status.HELD], Status.FAILED, reason="refunded before it was judged"
        )
        owe(order, Delivery.Kind.REFUND)
    return "refunded"


def _apply_earlier_refunds(order: Order) -> None:
    """Refunds that were reported before we knew whose payment it was."""
    if order.payment_intent:
        earlier = StripeEvent.objects.filter(
            type=REFUNDED, payment_intent=order.payment_intent
        ).order_by("pk")
        for event in earlier:
            _note_refund(order, json.loads(event.object))


def _order_for(session: CheckoutSession) -> Order:
    """The session's order; made from the session itself where it was sold elsewhere."""
    order = Order.objects.filter(session_id=session.id).first()
    if order:
        return order
    if session.reference:
        # Created here, but we died before its session's id was stored.
        Order.objects.filter(token=session.reference, session_id=None).update(session_id=session.id)
    price = settings.ORACLE_PRICES[session.tier]
    order, new = Order.objects.get_or_create(
        session_id=session.id,
        defaults={
            "tier": session.tier,
            "query": session.query,
            "email": session.email,
            "price_cents": price.cents,
            "currency": price.currency,
        },
    )
    if new:
        logger.info("order made from session %s", short_hash(session.id))
    return order


def _intent(charge: dict[str, Any]) -> str:
    intent = charge.get("payment_intent")
    return intent[:255] if isinstance(intent, str) else ""


# What we listen to. Anything else is stored, acknowledged and left alone.
_ACTIONS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "checkout.session.completed": _completed,
    "checkout.session.async_payment_succeeded": _completed,
    "checkout.session.async_payment_failed": _failed,
    "checkout.session.expired": _expired,
    REFUNDED: _refunded,
}
