"""Stripe events: stored first, then acted on once; `STRIPE_EVENTS` lists what is handled.

Delivery is at least once and in any order. An event that cannot be processed stays stored and
unprocessed, and the sweep tries it again.
"""

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.utils import timezone

from audit.log_context import log_session, set_log_session
from verdicts.core.sessions import CheckoutSession, payment_intent, read_session
from verdicts.models import Order, Status, StripeEvent
from verdicts.payments.accept_payment import import_session, is_known, order_for, record_session
from verdicts.payments.client import Event
from verdicts.payments.refunds import record_refund_update, record_refunded_charge
from verdicts.payments.session_history import SessionHistory, logged

logger = logging.getLogger(__name__)

Outcome = StripeEvent.Outcome

# A refund can be reported before its payment: it waits as long as Stripe retries events.
PENDING_REFUND_TTL: Final = timedelta(days=3)
# Such events belong to no order here, so that no erasure would ever find a customer in them.
UNATTRIBUTED: Final = (Outcome.NOT_OURS, Outcome.UNKNOWN_PAYMENT, Outcome.NO_PAYMENT_NAMED)


class StripeObject(NamedTuple):
    """What an event is about; `session` where it is a Checkout session."""

    raw: dict[str, Any]
    session: CheckoutSession | None


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
    raw = json.loads(stored.object)
    about = StripeObject(raw, read_session(raw))
    if about.session:
        set_log_session(about.session.id)
    history = _history(stored, about.session)
    with transaction.atomic():
        claimed = StripeEvent.objects.filter(pk=stored.pk, processed_at=None).update(
            processed_at=timezone.now()
        )
        if not claimed:
            return False
        outcome = _act(stored.type, about, history)
        waits = (
            outcome == Outcome.UNKNOWN_PAYMENT
            and stored.received_at > timezone.now() - PENDING_REFUND_TTL
        )
        changes: dict[str, Any] = {"outcome": outcome}
        if waits:
            changes["processed_at"] = None
        elif outcome in UNATTRIBUTED or _is_of_erased_order(outcome, about):
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


def _history(stored: StripeEvent, session: CheckoutSession | None) -> SessionHistory:
    """What the log has about a session that is unknown here. It reads files: no transaction."""
    if stored.processed_at or stored.type not in STRIPE_EVENTS or session is None:
        return "new"
    return "new" if session.tier is None or is_known(session) else logged(session.id) or "new"


def _act(event_type: str, about: StripeObject, history: SessionHistory) -> Outcome:
    if about.session and history != "new":
        return import_session(about.session, history)
    handler = STRIPE_EVENTS.get(event_type)
    return handler(about) if handler else Outcome.NOT_HANDLED


def _is_of_erased_order(outcome: Outcome, about: StripeObject) -> bool:
    """A refund is recorded for an erased order too, so its outcome does not tell."""
    if outcome == Outcome.ERASED or about.session:
        return outcome == Outcome.ERASED
    intent = payment_intent(about.raw)
    erased = Order.objects.filter(payment_intent=intent, status=Status.ERASED)
    return bool(intent) and erased.exists()


def _completed(about: StripeObject) -> Outcome:
    return record_session(about.session) if about.session else Outcome.NOT_OURS


def _payment_failed(about: StripeObject) -> Outcome:
    return _end_unpaid(about, [Status.CREATED, Status.AWAITING], Status.PAYMENT_FAILED)


def _expired(about: StripeObject) -> Outcome:
    return _end_unpaid(about, [Status.CREATED], Status.EXPIRED)


def _refunded(about: StripeObject) -> Outcome:
    return record_refunded_charge(about.raw)


def _refund_updated(about: StripeObject) -> Outcome:
    return record_refund_update(about.raw)


def _end_unpaid(about: StripeObject, sources: list[Status], target: Status) -> Outcome:
    order = order_for(about.session) if about.session else None
    if order is None:
        return Outcome.NOT_OURS
    if order.status == Status.ERASED:
        return Outcome.ERASED
    return Outcome(target) if order.move(sources, target) else Outcome.ALREADY_ADVANCED


# Another payment provider has its own table of events.
# Every event type that is handled; the deployment guide lists them from here. Of any other event
# id and type are kept, and it is acknowledged.
STRIPE_EVENTS: Final[dict[str, Callable[[StripeObject], Outcome]]] = {
    "checkout.session.completed": _completed,
    "checkout.session.async_payment_succeeded": _completed,
    "checkout.session.async_payment_failed": _payment_failed,
    "checkout.session.expired": _expired,
    "charge.refunded": _refunded,
    "refund.failed": _refund_updated,
    "charge.refund.updated": _refund_updated,
}
