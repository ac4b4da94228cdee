"""Refunds: requested from Stripe by staff, and recorded as Stripe reports them.

The request is made outside any transaction, with the order's own idempotency key. If the process
dies after it, Stripe's `charge.refunded` event still records the refund.
"""

from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Greatest
from django.utils import timezone

from audit.actions import record_action
from audit.core.printable import printable
from audit.log_context import set_log_session
from verdicts.core.errors import AlreadyRefunded, PaymentRefused
from verdicts.core.sessions import payment_intent
from verdicts.mail.outbox import enqueue_email
from verdicts.models import Case, Delivery, Order, Status, StripeEvent
from verdicts.payments.accept_payment import MAX_AMOUNT
from verdicts.payments.client import Account, refund
from verdicts.results import cache
from verdicts.review.cases import open_case

Outcome = StripeEvent.Outcome

# States of another payment provider have to be mapped to these.
# Stripe's refund states in which the money is or will be returned.
ACCEPTED: Final = ("succeeded", "pending", "requires_action")
ENDED_UNPAID: Final = ("failed", "canceled")
REFUNDED_EARLY: Final = "refunded before it was judged"  # shown as the order's reason


def refund_order(order: Order, *, account: Account, who: User, reason: str) -> bool:
    """Refund all that is left. False: it was refunded before. Raises a PaymentError."""
    if order.refunded_at:
        return False
    if not order.payment_intent:
        raise PaymentRefused("there is no payment to refund")
    cents = _request_refund(account, order)
    with transaction.atomic():
        new = record_refund(order, cents)
        # Also where Stripe's event was faster: a member of staff has asked for it.
        record_action(
            session_id=order.session_id or "",
            action="refund",
            who=who.get_username(),
            reason=reason,
        )
    return new


def _request_refund(account: Account, order: Order) -> int:
    """The sum of all refunds of the order, as Stripe reports it."""
    try:
        made = refund(account, order.payment_intent, idempotency_key=f"refund-{order.token}")
    except AlreadyRefunded:
        return order.refunded_cents or order.price_cents
    amount = made.get("amount")
    if made.get("status") not in ACCEPTED or type(amount) is not int:
        raise PaymentRefused("Stripe could not refund it: see its dashboard")
    return min(order.refunded_cents + amount, MAX_AMOUNT)


def refunded_order(stripe_object: dict[str, Any]) -> Order | None:
    """The order of a charge or refund, which names the payment and not the session."""
    intent = payment_intent(stripe_object)
    order = Order.objects.filter(payment_intent=intent).first() if intent else None
    if order:
        set_log_session(order.session_id)
    return order


def record_refunded_charge(charge: dict[str, Any]) -> Outcome:
    """A refund, made here or in Stripe's dashboard. Call inside a transaction."""
    order = refunded_order(charge)
    if order is None:
        return _unattributed(charge)
    refunded, amount = charge.get("amount_refunded"), charge.get("amount")
    if type(refunded) is not int or type(amount) is not int or not 0 < refunded <= MAX_AMOUNT:
        return Outcome.NO_AMOUNT
    # Reports may arrive out of order: the largest sum is the latest.
    Order.objects.filter(pk=order.pk, refunded_cents__lt=refunded).update(refunded_cents=refunded)
    if refunded < amount:
        return Outcome.REFUNDED_IN_PART
    record_refund(order, refunded)
    return Outcome.REFUNDED


def record_refund(order: Order, cents: int) -> bool:
    """Record a full refund. False: it was recorded before. Call inside a transaction."""
    if not Order.objects.filter(pk=order.pk, refunded_at=None).update(
        refunded_at=timezone.now(), refunded_cents=Greatest("refunded_cents", cents)
    ):
        return False
    # A refunded order is not generated; a delivered verdict stays delivered. An order that is
    # being generated now is ended by its worker.
    order.move([Status.PAID, Status.HELD], Status.FAILED, due_at=None, reason=REFUNDED_EARLY)
    order.refresh_from_db()
    cache.refresh(order)  # the response states the refund from now on
    if order.status != Status.ERASED:
        enqueue_email(order, Delivery.Kind.REFUND)
    return True


def record_refund_update(refund: dict[str, Any]) -> Outcome:
    """A refund can fail days after it was recorded and its customer was told."""
    if refund.get("status") not in ENDED_UNPAID:
        return Outcome.REFUND_IN_PROGRESS
    order = refunded_order(refund)
    if order is None:
        return _unattributed(refund)
    order = order.lock()  # Stripe reports it by two events, often at once
    about = printable(
        f"refund {refund.get('id')} {refund['status']} at Stripe: the customer was not paid back",
        200,
    )
    if not order.deliveries.filter(kind=Delivery.Kind.STAFF, about=about).exists():
        Order.objects.filter(pk=order.pk).update(reason=about)
        case = open_case(order, Case.Kind.FAILED)
        if case:
            enqueue_email(order, Delivery.Kind.STAFF, name=f"case.{case.pk}", about=about)
    return Outcome.REFUND_FAILED


def _unattributed(stripe_object: dict[str, Any]) -> Outcome:
    return Outcome.UNKNOWN_PAYMENT if payment_intent(stripe_object) else Outcome.NO_PAYMENT_NAMED
