"""Stripe events: stored first, then acted on once; `STRIPE_EVENTS` lists what is handled.

Delivery is at least once and in any order. An event that cannot be processed stays stored and
unprocessed, and the sweep tries it again.
"""

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from audit.log_context import log_session, set_log_session
from verdicts.core.sessions import payment_intent, read_session, session_in
from verdicts.models import Order, Status, StripeEvent
from verdicts.payments.accept_payment import import_session, is_known, order_for, record_session
from verdicts.payments.client import Event
from verdicts.payments.refunds import record_refund_update, record_refunded_charge
from verdicts.payments.session_history import Past, logged

logger = logging.getLogger(__name__)

Outcome = StripeEvent.Outcome

# A refund can be reported before its payment: it waits as long as Stripe goes on retrying.
PENDING_REFUND_TTL: Final = timedelta(days=3)
# Such events belong to no order here, so that no erasure would ever find a customer in them.
UNATTRIBUTED: Final = (Outcome.NOT_OURS, Outcome.UNKNOWN_PAYMENT, Outcome.NO_PAYMENT_NAMED)


def receive(event: Event) -> StripeEvent:
    """Store the event, then act on it, once. A repeated delivery returns the stored one."""
    # Of events that are not handled only id and type are kept: no erasure could find the rest.
    kept = event.object if event.type in STRIPE_EVENTS else {}
    stored, _ = StripeEvent.objects.get_or_create(
        event_id=event.id, defaults={"type": event.type[:100], "object": json.dumps(kept)}
    )
    process(stored)
    return stored


def process(stored: StripeEvent) -> bool:
    """Act on a stored event unless it is processed. False: there was nothing to do now."""
    past = _past(stored)
    with transaction.atomic():
        claimed = StripeEvent.objects.filter(pk=stored.pk, processed_at=None).update(
            processed_at=timezone.now()
        )
        if not claimed:
            return False
        raw = json.loads(stored.object)
        outcome = _act(stored.type, raw, past)
        waits = (
            outcome == Outcome.UNKNOWN_PAYMENT
            and stored.received_at > timezone.now() - PENDING_REFUND_TTL
        )
        changes: dict[str, Any] = {"outcome": outcome}
        if waits:
            changes["processed_at"] = None
        elif outcome in UNATTRIBUTED or _is_of_erased_order(outcome, raw):
            changes["object"] = redact_event(stored.object)
        StripeEvent.objects.filter(pk=stored.pk).update(**changes)
    return not waits


def apply_pending_refunds(order_id: int) -> None:
    """Process refunds of the order's payment that were reported before the payment was.

    Called right before generation: the payment is committed by then, so later reports find the
    order by themselves.
    """
    intent = Order.objects.filter(pk=order_id).values_list("payment_intent", flat=True).get()
    if intent:
        # Few events are unprocessed at any time.
        for early in StripeEvent.objects.filter(processed_at=None, object__contains=intent):
            process_again(early)


def process_again(event: StripeEvent) -> bool:
    with log_session(""):
        try:
            set_log_session(session_in(json.loads(event.object)))
            return process(event)
        except Exception:
            # One event that cannot be processed must not delay the others.
            logger.exception("event %s cannot be processed", event.event_id)
            return False


def redact_event(stored: str) -> str:
    """A stored object without personal data: only the ids that accounting needs."""
    raw = json.loads(stored)
    kept = {"id": raw.get("id"), "object": raw.get("object"), "payment_intent": payment_intent(raw)}
    return json.dumps({**kept, "erased": True})


def _past(stored: StripeEvent) -> Past:
    """What the log has about a session that is unknown here. It reads files: no transaction."""
    session = read_session(json.loads(stored.object))
    if stored.processed_at or stored.type not in STRIPE_EVENTS or session is None:
        return "new"
    return "new" if session.tier is None or is_known(session) else logged(session.id) or "new"


def _act(event_type: str, raw: dict[str, Any], past: Past) -> Outcome:
    session = read_session(raw)
    if session and past != "new":
        return import_session(session, past)
    handler = STRIPE_EVENTS.get(event_type)
    return handler(raw) if handler else Outcome.NOT_HANDLED


def _is_of_erased_order(outcome: Outcome, raw: dict[str, Any]) -> bool:
    """A refund is recorded for an erased order too, so its outcome does not tell."""
    if outcome == Outcome.ERASED or session_in(raw):
        return outcome == Outcome.ERASED
    intent = payment_intent(raw)
    erased = Order.objects.filter(payment_intent=intent, status=Status.ERASED)
    return bool(intent) and erased.exists()


def _completed(raw: dict[str, Any]) -> Outcome:
    session = read_session(raw)
    return record_session(session) if session else Outcome.NOT_OURS


def _payment_failed(raw: dict[str, Any]) -> Outcome:
    return _end_unpaid(raw, [Status.CREATED, Status.AWAITING], Status.PAYMENT_FAILED)


def _expired(raw: dict[str, Any]) -> Outcome:
    return _end_unpaid(raw, [Status.CREATED], Status.EXPIRED)


def _end_unpaid(raw: dict[str, Any], sources: list[Status], target: Status) -> Outcome:
    session = read_session(raw)
    order = order_for(session) if session else None
    if order is None:
        return Outcome.NOT_OURS
    if order.status == Status.ERASED:
        return Outcome.ERASED
    return Outcome(target) if order.move(sources, target) else Outcome.ALREADY_ADVANCED


# Every event type that is handled; the deployment guide lists them from here. Of any other event
# id and type are kept, and it is acknowledged.
STRIPE_EVENTS: Final[dict[str, Callable[[dict[str, Any]], Outcome]]] = {
    "checkout.session.completed": _completed,
    "checkout.session.async_payment_succeeded": _completed,
    "checkout.session.async_payment_failed": _payment_failed,
    "checkout.session.expired": _expired,
    "charge.refunded": record_refunded_charge,
    "refund.failed": record_refund_update,
    "charge.refund.updated": record_refund_update,
}
