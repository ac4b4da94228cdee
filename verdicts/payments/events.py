"""What Stripe tells us, from an event or from a re-read, becomes the state of an order.

An event is stored by itself before anything is done about it; then one
transaction claims it, moves the order and queues the job. A failure undoes all
three, and the event stays to be replayed. Events come twice and in any order:
every move is a compare-and-swap from the states it may come from.
"""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Greatest
from django.utils import timezone

from audit.core.plain import plain
from audit.log_context import log_session, set_log_session
from verdicts.core.sessions import CheckoutSession, payment_intent, read_session, session_in
from verdicts.jobs import queue
from verdicts.mail.outbox import enqueue_email
from verdicts.models import UNPAID, Case, Delivery, Order, Status, StripeEvent
from verdicts.payments.client import Event
from verdicts.payments.session_history import Past, logged
from verdicts.results import cache
from verdicts.review.cases import open_case

logger = logging.getLogger(__name__)

# A refund can be reported before its payment: it waits as long as Stripe goes on retrying.
NO_SUCH_PAYMENT: Final = "no such payment here"
PENDING_REFUND_TTL: Final = timedelta(days=3)
NOT_OURS: Final = "not our session"
NOT_NAMED: Final = "no payment named"
# Whom it concerns has no order here, so no erasure would ever find it.
NOBODYS: Final = (NOT_OURS, NO_SUCH_PAYMENT, NOT_NAMED)
LARGEST_AMOUNT: Final = 99_999_999  # Stripe's own
# Of an order that its customer had erased nothing comes any more, and what Stripe
# says of it is not kept either.
ERASED: Final = "erased"
REFUNDED_EARLY: Final = "refunded before it was judged"
# Why an order is delivered that nothing was emailed for from here; the console shows it.
RESTORED: Final = "made again from the log, which has its verdict: it was emailed before"
UNCLEAR: Final = "another host may have emailed its verdict, or nobody"
_WHY_BACK: Final[dict[Past, str]] = {"judged": RESTORED, "unclear": UNCLEAR}


def receive(event: Event) -> StripeEvent:
    """Store the event, then act on it, once. A repeated delivery returns the stored one."""
    # Of what is not acted on nobody reads more, and no erasure could find a customer in it.
    kept = event.object if event.type in _ACTIONS else {}
    stored, _ = StripeEvent.objects.get_or_create(
        event_id=event.id, defaults={"type": event.type[:100], "object": json.dumps(kept)}
    )
    process(stored)
    return stored


def process(stored: StripeEvent) -> bool:
    """Act on a stored event unless somebody has. False: there was nothing to be done now."""
    past = _past(stored)
    with transaction.atomic():
        claimed = StripeEvent.objects.filter(pk=stored.pk, processed_at=None).update(
            processed_at=timezone.now()
        )
        if not claimed:
            return False
        outcome = _act(stored, past)
        waits = (
            outcome == NO_SUCH_PAYMENT and stored.received_at > timezone.now() - PENDING_REFUND_TTL
        )
        StripeEvent.objects.filter(pk=stored.pk).update(
            outcome=outcome[:100], processed_at=None if waits else timezone.now()
        )
        if outcome.startswith(ERASED) or (outcome in NOBODYS and not waits):
            StripeEvent.objects.filter(pk=stored.pk).update(object=redact_event(stored.object))
    return not waits


def apply_pending_refunds(order_id: int) -> None:
    """Act on refunds of its payment that were reported before the payment was.

    Right before an order is judged: by then its payment is committed, so whatever is
    reported from now on finds the order by itself.
    """
    intent = Order.objects.filter(pk=order_id).values_list("payment_intent", flat=True).get()
    if intent:
        # Of all that is not processed, which is little.
        for early in StripeEvent.objects.filter(processed_at=None, object__contains=intent):
            process_again(early)


def process_again(event: StripeEvent) -> bool:
    with log_session(""):
        try:
            set_log_session(session_in(json.loads(event.object)))
            return process(event)
        except Exception:
            # One event that cannot be processed must keep nothing else waiting.
            logger.exception("event %s cannot be processed", event.event_id)
            return False


def _past(stored: StripeEvent) -> Past:
    """What the log remembers of a session that is unknown here. Before the transaction: files."""
    session = read_session(json.loads(stored.object))
    if stored.processed_at or stored.type not in _ACTIONS or session is None:
        return "new"
    return "new" if session.tier is None or _known(session) else logged(session.id) or "new"


def _act(stored: StripeEvent, past: Past) -> str:
    raw = json.loads(stored.object)
    session = read_session(raw)
    if session and past != "new":
        return import_session(session, past)
    act = _ACTIONS.get(stored.type)
    return act(raw) if act else "not of our kind"


def redact_event(stored: str) -> str:
    """A stored object without what it says of its customer: the ids that accounts need."""
    raw = json.loads(stored)
    kept = {"id": raw.get("id"), "object": raw.get("object"), "payment_intent": payment_intent(raw)}
    return json.dumps({**kept, "erased": True})


def record_session(session: CheckoutSession) -> str:
    """What Stripe says of a session that the customer has finished with. In a transaction."""
    order = _order_for(session)
    if order is None:
        return NOT_OURS
    if order.status == Status.ERASED:
        return ERASED
    if session.payment == "paid":
        return _accept_payment(order, session)
    moved = order.move([Status.CREATED], Status.AWAITING, email=session.email or order.email)
    return "awaiting payment" if moved else "already further on"


def import_session(session: CheckoutSession, past: Past) -> str:
    """A session that no order here is for, by what became of it. In a transaction."""
    if past == "erased":
        return _tombstone(session)
    if past == "new" or session.payment != "paid":
        return record_session(session)
    return _recreate(session, past)


def _tombstone(session: CheckoutSession) -> str:
    """The erased stay erased, also where the database is from before that (R10)."""
    tier = session.tier or "full"
    Order.objects.get_or_create(
        session_id=session.id,
        defaults={
            "status": Status.ERASED,
            "tier": tier,
            "price_cents": _amount(session),
            "currency": session.currency[:3] or settings.ORACLE_PRICES[tier].currency,
            "payment_intent": session.payment_intent,
            "paid_at": _made(session) if session.payment == "paid" else None,
        },
    )
    return ERASED


def _recreate(session: CheckoutSession, past: Past) -> str:
    """A session that was paid long ago, or was judged before the database was lost.

    Its verdict was emailed then, so none is made and emailed now: reading it is a miss
    (R10). An order that is known after all is paid for like any other, unless the log
    has its verdict.
    """
    known = _known(session)
    order = _order_for(session)
    if order is None:
        return NOT_OURS
    if (known and past != "judged") or not order.query:
        return _accept_payment(order, session)
    then = {  # today's price says nothing about it
        "paid_at": _made(session),
        "price_cents": _amount(session),
        "currency": session.currency[:3] or order.currency,
        "due_at": None,
        "reason": _WHY_BACK.get(past, ""),
    }
    moved = order.move(UNPAID, Status.DELIVERED, **{**_payment(order, session), **then})
    return "recreated" if moved else "already paid"


def _amount(session: CheckoutSession) -> int:
    return max(0, min(session.amount_cents or 0, LARGEST_AMOUNT))


def _made(session: CheckoutSession) -> datetime:
    return datetime.fromtimestamp(session.created or 0, tz=UTC)


def _accept_payment(order: Order, session: CheckoutSession) -> str:
    """Mark the order paid and queue its verdict, once."""
    paid = _payment(order, session)
    wrong = why_held(order, session)
    if wrong:
        if order.move(UNPAID, Status.HELD, reason=wrong[:200], **paid):
            if open_case(order, Case.Kind.HELD):
                enqueue_email(order, Delivery.Kind.STAFF)
            return "held"
        return "already paid"
    if not order.move(UNPAID, Status.PAID, **paid) and not _reopen_as_paid(order, paid):
        return "already paid"  # another delivery got there first
    queue.enqueue(queue.FULFIL, order.pk)
    return "paid"


def _reopen_as_paid(order: Order, paid: dict[str, Any]) -> bool:
    """An order that was taken for an old one, and whose payment is reported only now.

    Then its verdict was never emailed from anywhere: it is owed one after all. Not where
    the log has that verdict, however often Stripe's event is sent again.
    """
    old = Order.objects.filter(pk=order.pk, status=Status.DELIVERED, refunded_at=None)
    never_emailed = old.exclude(reason=RESTORED).exclude(deliveries__kind=Delivery.Kind.VERDICT)
    paid = {**paid, "reason": ""}
    return bool(never_emailed.update(status=Status.PAID, **paid))


def _payment(order: Order, session: CheckoutSession) -> dict[str, Any]:
    return {
        "paid_at": timezone.now(),
        "due_at": timezone.now(),
        "payment_intent": session.payment_intent,
        "email": session.email or order.email,
    }


def why_held(order: Order, session: CheckoutSession) -> str:
    """Why a person has to look at a payment first; nothing: it is as it should be."""
    if not order.query:
        return "paid, but there is no query that could be judged"
    if (session.amount_cents, session.currency) != (order.price_cents, order.currency):
        return (
            f"paid {session.amount_cents} {session.currency}, "
            f"the price was {order.price_cents} {order.currency}"
        )
    return ""


def _completed(raw: dict[str, Any]) -> str:
    session = read_session(raw)
    return record_session(session) if session else NOT_OURS


def _failed(raw: dict[str, Any]) -> str:
    return _end_unpaid(raw, [Status.CREATED, Status.AWAITING], Status.PAYMENT_FAILED)


def _expired(raw: dict[str, Any]) -> str:
    return _end_unpaid(raw, [Status.CREATED], Status.EXPIRED)


def _end_unpaid(raw: dict[str, Any], sources: list[Status], target: Status) -> str:
    session = read_session(raw)
    order = _order_for(session) if session else None
    if order is None:
        return NOT_OURS
    if order.status == Status.ERASED:
        return ERASED
    return target.value if order.move(sources, target) else "already further on"


def record_refunded_charge(charge: dict[str, Any]) -> str:
    """A refund, made here or in Stripe's dashboard; it names the payment, not the session.

    In a transaction.
    """
    intent = payment_intent(charge)
    order = Order.objects.filter(payment_intent=intent).first() if intent else None
    if order is None:
        return NO_SUCH_PAYMENT if intent else NOT_NAMED
    set_log_session(order.session_id)
    outcome = _record_charge(order, charge)
    return f"{ERASED}, {outcome}" if order.status == Status.ERASED else outcome


def _record_charge(order: Order, charge: dict[str, Any]) -> str:
    refunded, amount = charge.get("amount_refunded"), charge.get("amount")
    if type(refunded) is not int or type(amount) is not int or not 0 < refunded <= LARGEST_AMOUNT:
        return "no amount"
    # Reports may overtake each other: the largest sum is the latest.
    Order.objects.filter(pk=order.pk, refunded_cents__lt=refunded).update(refunded_cents=refunded)
    if refunded < amount:
        return "refunded in part"
    record_refund(order, refunded)
    return "refunded"


def record_refund(order: Order, cents: int) -> bool:
    """All of it is paid back. False: that was known. In a transaction."""
    if not Order.objects.filter(pk=order.pk, refunded_at=None).update(
        refunded_at=timezone.now(), refunded_cents=Greatest("refunded_cents", cents)
    ):
        return False
    # Who has the money back is owed no verdict; one that is out stays out. What is
    # being judged at this moment is ended by whoever judges it.
    order.move([Status.PAID, Status.HELD], Status.FAILED, due_at=None, reason=REFUNDED_EARLY)
    order.refresh_from_db()
    cache.refresh(order)  # the answer says so from now on
    if order.status != Status.ERASED:
        enqueue_email(order, Delivery.Kind.REFUND)
    return True


def _refund_ended(refund: dict[str, Any]) -> str:
    """A refund can fail days after it was noted here, and its customer was told of it."""
    if refund.get("status") not in ("failed", "canceled"):
        return "refund under way"
    intent, name = payment_intent(refund), refund.get("id")
    order = Order.objects.filter(payment_intent=intent).first() if intent else None
    if order is None:
        return NO_SUCH_PAYMENT if intent else "no payment named"
    set_log_session(order.session_id)
    order = order.lock()  # Stripe tells it by two events, often at once
    about = plain(
        f"refund {name} {refund['status']} at Stripe: the customer was not paid back", 200
    )
    if not order.deliveries.filter(kind=Delivery.Kind.STAFF, about=about).exists():
        Order.objects.filter(pk=order.pk).exclude(reason=RESTORED).update(reason=about)
        case = open_case(order, Case.Kind.FAILED)
        if case:
            enqueue_email(order, Delivery.Kind.STAFF, name=f"case.{case.pk}", about=about)
    outcome = "refund failed"
    return f"{ERASED}, {outcome}" if order.status == Status.ERASED else outcome


def _known(session: CheckoutSession) -> bool:
    mine = Q(session_id=session.id)
    if session.reference:
        mine |= Q(token=session.reference, session_id=None)
    return Order.objects.filter(mine).exists()


def _order_for(session: CheckoutSession) -> Order | None:
    """The session's order; made from the session itself where it was sold elsewhere."""
    order = Order.objects.filter(session_id=session.id).first()
    if order is None and session.reference:
        # Created here, but we died before its session's id was stored.
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


# What we listen to. Of anything else id and type are kept, and it is acknowledged.
_ACTIONS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "checkout.session.completed": _completed,
    "checkout.session.async_payment_succeeded": _completed,
    "checkout.session.async_payment_failed": _failed,
    "checkout.session.expired": _expired,
    "charge.refunded": record_refunded_charge,
    "refund.failed": _refund_ended,
    "charge.refund.updated": _refund_ended,
}
