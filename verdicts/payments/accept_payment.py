"""Orders from Checkout sessions: a paid session makes its order paid and due, once.

Webhook events, reads that re-ask Stripe and reconciliation all come through `record_session` or
`import_session`, so that each session is accepted by one path. Call both inside a transaction.
"""

import logging
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from verdicts.core.sessions import CheckoutSession
from verdicts.jobs import queue
from verdicts.mail.outbox import enqueue_email
from verdicts.models import UNPAID, Case, Delivery, Order, Recovered, Status, StripeEvent
from verdicts.payments.session_history import SessionHistory
from verdicts.review.cases import open_case

logger = logging.getLogger(__name__)

Outcome = StripeEvent.Outcome

MAX_AMOUNT: Final = 99_999_999  # Stripe's own limit


def record_session(session: CheckoutSession) -> Outcome:
    """Bring the session's order to the state that Stripe reports."""
    order = order_for(session)
    if order is None:
        return Outcome.NOT_OURS
    if order.status == Status.ERASED:
        return Outcome.ERASED
    if session.payment == "paid":
        return _accept_payment(order, session)
    moved = order.move([Status.CREATED], Status.AWAITING, email=session.email or order.email)
    return Outcome.AWAITING if moved else Outcome.ALREADY_ADVANCED


def import_session(session: CheckoutSession, history: SessionHistory) -> Outcome:
    """Create the order of a session that is unknown here, by what `history` says about it."""
    if history == "erased":
        return _create_tombstone(session)
    if history == "new" or session.payment != "paid":
        return record_session(session)
    return _recreate(session, history)


def _create_tombstone(session: CheckoutSession) -> Outcome:
    """Erased orders stay erased, also in a database restored from before the erasure (R10)."""
    tier = session.tier or "full"
    Order.objects.get_or_create(
        session_id=session.id,
        defaults={
            "status": Status.ERASED,
            "tier": tier,
            "price_cents": _amount(session),
            "currency": session.currency[:3] or settings.ORACLE_PRICES[tier].currency,
            "payment_intent": session.payment_intent,
            "paid_at": _created(session) if session.payment == "paid" else None,
        },
    )
    return Outcome.ERASED


def _recreate(session: CheckoutSession, history: SessionHistory) -> Outcome:
    """A session that was paid long ago, or was judged before the database was lost.

    Its verdict was emailed then, so no email is sent now, and the first read is a cache miss
    (R10). An order that is known after all is accepted like any other, unless the log has its
    verdict.
    """
    known = is_known(session)
    order = order_for(session)
    if order is None:
        return Outcome.NOT_OURS
    if (known and history != "judged") or not order.query:
        return _accept_payment(order, session)
    recovered = Recovered(history)
    then = {  # today's price does not apply to it
        "paid_at": _created(session),
        "price_cents": _amount(session),
        "currency": session.currency[:3] or order.currency,
        "due_at": None,
        "recovered": recovered,
        "reason": recovered.label,
    }
    moved = order.move(UNPAID, Status.DELIVERED, **{**_payment(order, session), **then})
    return Outcome.RECREATED if moved else Outcome.ALREADY_PAID


def _accept_payment(order: Order, session: CheckoutSession) -> Outcome:
    """Mark the order paid and queue its generation, once."""
    paid = _payment(order, session)
    wrong = why_held(order, session)
    if wrong:
        if order.move(UNPAID, Status.HELD, reason=wrong[:200], **paid):
            if open_case(order, Case.Kind.HELD):
                enqueue_email(order, Delivery.Kind.STAFF)
            return Outcome.HELD
        return Outcome.ALREADY_PAID
    if not order.move(UNPAID, Status.PAID, **paid) and not _reopen_as_paid(order, paid):
        return Outcome.ALREADY_PAID  # another delivery of the event was faster
    queue.enqueue(queue.FULFIL, order.pk)
    return Outcome.PAID


def _reopen_as_paid(order: Order, paid: dict[str, Any]) -> bool:
    """An order that was taken for an old one, and whose payment event arrives only now.

    Then its verdict was never emailed from anywhere, and it is generated after all. Not where
    the log has that verdict, however often Stripe repeats the event.
    """
    old = Order.objects.filter(pk=order.pk, status=Status.DELIVERED, refunded_at=None)
    never_emailed = old.exclude(recovered=Recovered.JUDGED).exclude(
        deliveries__kind=Delivery.Kind.VERDICT
    )
    return bool(never_emailed.update(status=Status.PAID, **{**paid, "recovered": "", "reason": ""}))


def _payment(order: Order, session: CheckoutSession) -> dict[str, Any]:
    return {
        "paid_at": timezone.now(),
        "due_at": timezone.now(),
        "payment_intent": session.payment_intent,
        "email": session.email or order.email,
    }


def why_held(order: Order, session: CheckoutSession) -> str:
    """Why staff must look at a payment before it is fulfilled; empty if they need not."""
    if not order.query:
        return "paid, but there is no query that could be judged"
    if (session.amount_cents, session.currency) != (order.price_cents, order.currency):
        return (
            f"paid {session.amount_cents} {session.currency}, "
            f"the price was {order.price_cents} {order.currency}"
        )
    return ""


def is_known(session: CheckoutSession) -> bool:
    ours = Q(session_id=session.id)
    if session.reference:
        ours |= Q(token=session.reference, session_id=None)
    return Order.objects.filter(ours).exists()


def order_for(session: CheckoutSession) -> Order | None:
    """The session's order; created from the session where it was sold by another installation."""
    order = Order.objects.filter(session_id=session.id).first()
    if order is None and session.reference:
        # Created here, but the process died before the session's id was stored.
        Order.objects.filter(token=session.reference, session_id=None).update(session_id=session.id)
        order = Order.objects.filter(session_id=session.id).first()
    if order or session.tier is None:
        return order
    price = settings.ORACLE_PRICES[session.tier]
    order, new = Order.objects.get_or_create(
        session_id=session.id,
        defaults={
            "tier": session.tier,
            "query": session.query or "",
            "email": session.email,
            "price_cents": price.cents,
            "currency": price.currency,
        },
    )
    if new:
        logger.info("order %s made from its session", order.pk)
    return order


def _amount(session: CheckoutSession) -> int:
    return max(0, min(session.amount_cents or 0, MAX_AMOUNT))


def _created(session: CheckoutSession) -> datetime:
    return datetime.fromtimestamp(session.created or 0, tz=UTC)
