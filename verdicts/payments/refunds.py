"""A customer is paid back: asked of Stripe once, whoever presses how often.

The call is outside any transaction and carries the order's own idempotency key.
Should we die after it, Stripe's `charge.refunded` tells us all the same.
"""

from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from audit.actions import record_action
from verdicts.core.errors import AlreadyRefunded, PaymentRefused
from verdicts.models import Order
from verdicts.payments.client import Account, refund
from verdicts.payments.events import LARGEST_AMOUNT, record_refund

UNDER_WAY: Final = ("succeeded", "pending", "requires_action")


def refund_order(order: Order, *, account: Account, who: User, reason: str) -> bool:
    """Pay back all that is left. False: it was paid back before. Raises a PaymentError."""
    if order.refunded_at:
        return False
    if not order.payment_intent:
        raise PaymentRefused("there is no payment to pay back")
    cents = _pay_back(account, order)
    with transaction.atomic():
        new = record_refund(order, cents)
        # Also where Stripe's event was faster: a person has asked for it.
        record_action(
            session_id=order.session_id or "",
            action="refund",
            who=who.get_username(),
            reason=reason,
        )
    return new


def _pay_back(account: Account, order: Order) -> int:
    """The sum of all that was paid back, as Stripe tells it."""
    try:
        made = refund(account, order.payment_intent, idempotency_key=f"refund-{order.token}")
    except AlreadyRefunded:
        return order.refunded_cents or order.price_cents
    amount = made.get("amount")
    if made.get("status") not in UNDER_WAY or type(amount) is not int:
        raise PaymentRefused("Stripe could not pay it back: see its dashboard")
    return min(order.refunded_cents + amount, LARGEST_AMOUNT)
