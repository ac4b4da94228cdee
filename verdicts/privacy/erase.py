"""A customer's texts leave the house: figures, payment ids and the chain stay.

What stays is a tombstone: the session's id with the status `erased`, so that no
event and no reader can bring the order back (R10). One transaction an order; this
host's log files follow at once, the others' by their own sweep.
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

# A page of Stripe's can be paid on for a day.
PAYABLE: Final = timedelta(hours=24)
_BUSY: Final = {
    Status.AWAITING: "its payment is under way",
    Status.PAID: "it is paid and waits to be judged",
    Status.GENERATING: "it is being judged",
    Status.HELD: "its payment is held for staff",
}


class Unfinished(Exception):
    """An order that is still being worked on; the sentence says why."""


def why_not(order: Order) -> str:
    """Why it cannot be erased now; nothing: it can."""
    if order.status == Status.CREATED and order.created_at > timezone.now() - PAYABLE:
        return "it may still be paid"
    if is_being_sent(order):
        return "an email about it is being sent, which takes a minute at most"
    if any(event.processed_at is None for event in _events(order)):
        return "an event of Stripe's about it is not acted on yet: manage.py reconcile --apply"
    return _BUSY.get(Status(order.status), "")


def ask_stripe(order: Order, *, account: Account) -> str:
    """Why it cannot be erased, by what Stripe says; nothing: it can. Not in a transaction.

    What is unpaid here may be paid there: a payment that nobody has told us of must
    not be lost behind a tombstone. Such a one is noted, as its webhook would have.
    """
    if order.status not in UNPAID or not order.session_id:
        return ""
    try:
        reread(order, account=account)
    except UnknownSession:
        return ""  # and so nobody can have paid on it
    except PaymentError as error:
        return f"Stripe cannot be asked whether it was paid ({error}): try again later"
    return why_not(order)


def erase(order: Order, *, who: str, reason: str) -> int:
    """Erase it, on record; returns how many previews of the log went with it.

    Raises Unfinished, and then nothing has happened. Once erased, it stays so.
    """
    with transaction.atomic():
        order = order.lock()
        if busy := why_not(order):
            raise Unfinished(busy)
        session_id = order.session_id or ""
        _erase_order(order)
        previews = 0
        if session_id:
            _erase_judgements(session_id)
            previews = erase_previews([session_id])
        _erase_events(order)
        record_action(session_id=session_id, action="erase", who=who, reason=reason)
    return previews


def _erase_order(order: Order) -> None:
    Order.objects.filter(pk=order.pk).update(
        status=Status.ERASED, query="", email="", reason="", due_at=None, regen_until=None
    )
    CachedVerdict.objects.filter(session_id=order.session_id).delete()
    # The digests too: a short text can be guessed and tried out against one.
    order.verdicts.update(payload={}, fingerprint="", compare_due_at=None)
    order.cases.update(note="")
    about_customer = order.deliveries.exclude(kind__in=OPERATIONAL_KINDS)
    about_customer.update(about="", body_sha256="", error="")
    stop_erased(Delivery.objects.filter(order=order))


def _erase_judgements(session_id: str) -> None:
    checks = CrosscheckLog.objects.filter(session_id=session_id).exclude(evidence="")
    checks.update(evidence="", evidence_purged_at=timezone.now())
    for call in ModelCall.objects.filter(session_id=session_id):
        ModelCall.objects.filter(pk=call.pk).update(
            # Both are made from the query alone.
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
    named = [name for name in (order.session_id, order.payment_intent) if name]
    mentioned = Q(pk=None)
    for name in named:
        mentioned |= Q(object__contains=f'"{name}"')
    yield from StripeEvent.objects.filter(mentioned).iterator()
