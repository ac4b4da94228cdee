"""Erasure (GDPR): removes a customer's personal data; prices, payment ids and the log chain stay.

An erased order stays as a tombstone, its session id with the status `erased`, so that no event and
no read can recreate it (R10). Each order is erased in one transaction. This host's log files follow
at once, those of other hosts with their next sweep.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.actions import record_action
from audit.log.erasure import erase_previews
from audit.models import CrosscheckLog, ModelCall
from verdicts.core.errors import PaymentError, UnknownSession
from verdicts.mail.kinds import OPERATIONAL_KINDS
from verdicts.mail.outbox import is_being_sent, stop_erased
from verdicts.models import UNPAID, CachedVerdict, Delivery, Order, Status, StripeEvent
from verdicts.payments.client import Account
from verdicts.payments.events import redact_event
from verdicts.payments.stripe_sync import reread

# How long a Checkout session can be paid.
CHECKOUT_TTL: Final = timedelta(hours=24)
_BLOCKING_STATES: Final = {
    Status.AWAITING: "its payment is pending",
    Status.PAID: "it is paid and waiting for its verdict",
    Status.GENERATING: "its verdict is being generated",
    Status.HELD: "its payment is held for staff",
}


class ErasureBlocked(Exception):
    """The order is still being processed; the message says why."""


def blocking_reason(order: Order) -> str:
    """Why the order cannot be erased now; empty if it can."""
    if order.status == Status.CREATED and order.created_at > timezone.now() - CHECKOUT_TTL:
        return "it can still be paid"
    if is_being_sent(order):
        return "an email about it is being sent: try again in a minute"
    if any(event.processed_at is None for event in _events(order)):
        return "a Stripe event about it is not processed yet: run manage.py reconcile --apply"
    return _BLOCKING_STATES.get(Status(order.status), "")


def sync_blocking_reason(order: Order, *, account: Account) -> str:
    """Why the order cannot be erased, after a look-up at Stripe; empty if it can.

    A payment that no event has reported yet must not be lost: it is recorded as its webhook would
    record it, and then blocks the erasure. Call outside transactions.
    """
    if order.status not in UNPAID or not order.session_id:
        return ""
    try:
        reread(order, account=account)
    except UnknownSession:
        return ""  # so it cannot have been paid
    except PaymentError as error:
        return f"Stripe cannot be asked whether it was paid ({error}): try again later"
    return blocking_reason(order)


def erase(order: Order, *, who: str, reason: str) -> int:
    """Erase the order and record the action; returns the number of log previews erased.

    Raises ErasureBlocked, and then nothing has changed. Erasure is final.
    """
    with transaction.atomic():
        order = order.lock()
        if blocked_by := blocking_reason(order):
            raise ErasureBlocked(blocked_by)
        session_id = order.session_id or ""
        _erase_order(order)
        previews = 0
        if session_id:
            _erase_crosschecks_and_calls(session_id)
            previews = erase_previews([session_id])
        _erase_events(order)
        record_action(session_id=session_id, action="erase", who=who, reason=reason)
    return previews


def _erase_order(order: Order) -> None:
    Order.objects.filter(pk=order.pk).update(
        status=Status.ERASED, query="", email="", reason="", due_at=None, regen_until=None
    )
    CachedVerdict.objects.filter(session_id=order.session_id).delete()
    # Digests, too: a short text could be recovered by guessing.
    order.verdicts.update(payload={}, fingerprint="", compare_due_at=None)
    order.cases.update(note="")
    about_customer = order.deliveries.exclude(kind__in=OPERATIONAL_KINDS)
    about_customer.update(about="", body_sha256="", error="")
    stop_erased(Delivery.objects.filter(order=order))


def _erase_crosschecks_and_calls(session_id: str) -> None:
    checks = CrosscheckLog.objects.filter(session_id=session_id).exclude(evidence="")
    checks.update(evidence="", evidence_purged_at=timezone.now())
    for call in ModelCall.objects.filter(session_id=session_id):
        ModelCall.objects.filter(pk=call.pk).update(
            # The digest and the seed are derived from the query alone.
            prompt_sha256="",
            asked=_without_seed(call.asked),
            sent=_without_seed(call.sent),
        )


def _without_seed(parameters: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key != "seed"}


def _erase_events(order: Order) -> None:
    for event in _events(order):
        StripeEvent.objects.filter(pk=event.pk).update(object=redact_event(event.object))


def _events(order: Order) -> Iterator[StripeEvent]:
    """Stored events that contain the order's session id or payment id."""
    mentioned = Q(pk=None)
    for stripe_id in (order.session_id, order.payment_intent):
        if stripe_id:
            mentioned |= Q(object__contains=f'"{stripe_id}"')
    yield from StripeEvent.objects.filter(mentioned).iterator()
