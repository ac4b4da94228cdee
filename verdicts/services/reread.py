"""An order that is unpaid here may be paid at Stripe: ask there before saying so (R10).

The buyer's redirect often beats the webhook. What Stripe says goes the same way
as an event.
"""

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from verdicts.core.sessions import read_session
from verdicts.gateways.stripe_api import Account, retrieve_session
from verdicts.models import UNPAID, Order
from verdicts.services.payments import note_session

# At most one look per order in this time, however often its page is loaded.
EVERY: Final = timedelta(seconds=2)


def is_unpaid(order: Order, *, account: Account) -> bool | None:
    """Whether Stripe, too, says that it is not paid. None: somebody else is asking just now.

    Raises a PaymentError. The order is left as it stands after asking.
    """
    if order.status not in UNPAID or not order.session_id:
        return False
    if not _our_turn(order):
        return None
    session = read_session(retrieve_session(account, order.session_id))
    if session and (session.complete or session.payment == "paid"):
        with transaction.atomic():
            note_session(session)
        order.refresh_from_db()
    return order.status in UNPAID


def _our_turn(order: Order) -> bool:
    now = timezone.now()
    due = Q(reread_at=None) | Q(reread_at__lt=now - EVERY)
    return bool(Order.objects.filter(due, pk=order.pk).update(reread_at=now))
