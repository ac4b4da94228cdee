"""A customer is paid back: asked of Stripe once, whoever presses how often.

The call is outside any transaction and carries the order's own idempotency key.
Should we die after it, Stripe's `charge.refunded` tells us all the same.
"""

from django.contrib.auth.models import User
from django.db import transaction

from audit.actions import record_action
from verdicts.core.errors import PaymentRefused
from verdicts.gateways.stripe_api import Account, refund
from verdicts.models import Order
from verdicts.services.payments import note_refund


def refund_order(order: Order, *, account: Account, who: User, reason: str) -> bool:
    """Pay back all that is left. False: it was paid back before. Raises a PaymentError."""
    if order.refunded_at:
        return False
    if not order.payment_intent:
        raise PaymentRefused("there is no payment to pay back")
    refund(account, order.payment_intent, idempotency_key=f"refund-{order.token}")
    with transaction.atomic():
        new = note_refund(order, order.price_cents)
        if new:
            record_action(
                session_id=order.session_id or "",
                action="refund",
                who=who.get_username(),
                reason=reason,
            )
    return new
