"""What is not paid here, or not known here, may be so at Stripe: ask there before saying so (R10).

The buyer's redirect often beats the webhook. What Stripe says goes the same way
as an event.
"""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from verdicts.core.errors import PaymentsBusy, UnknownSession
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.http.concurrency_limit import Slots
from verdicts.models import UNPAID, Order
from verdicts.payments.accept_payment import import_session, record_session
from verdicts.payments.client import Account, retrieve_session
from verdicts.payments.session_history import house, logged, past_of

# At most one look per order in this time, however often its page is loaded.
EVERY: Final = timedelta(seconds=2)

# Of this process: readers that wait for Stripe must not use up the threads of everything else.
in_progress = Slots()


def is_unpaid(order: Order, *, account: Account) -> bool | None:
    """Whether Stripe, too, says that it is not paid. None: it cannot be asked just now, because
    others are asking.

    Raises a PaymentError. The order is left as it stands after asking.
    """
    if order.status not in UNPAID or not order.session_id:
        return False
    with in_progress.take(of=settings.SERVING.lookups) as free:
        if not free or not _our_turn(order):
            return None
        reread(order, account=account)
    return order.status in UNPAID


def reread(order: Order, *, account: Account) -> None:
    """Leave the order as it stands by what Stripe says of its session. Raises a PaymentError."""
    session = read_session(retrieve_session(account, order.session_id or ""))
    if session and _is_finished(session):
        with transaction.atomic():
            record_session(session)
    order.refresh_from_db()


def import_from_stripe(session_id: str, *, account: Account) -> Order | None:
    """The order of a session that is unknown here, made from what Stripe says; None: it is unpaid.

    Raises a PaymentError: UnknownSession for what is none of ours.
    """
    with in_progress.take(of=settings.SERVING.lookups) as free:
        if not free:
            raise PaymentsBusy("too many readers are waiting for Stripe")
        session = read_session(retrieve_session(account, session_id))
    if session is None or session.id != session_id or session.tier is None:
        raise UnknownSession("not a session of ours")
    if not _is_finished(session):
        return None
    past = past_of(session, logged(session_id), house())
    with transaction.atomic():
        import_session(session, past)
    return Order.objects.get(session_id=session_id)


def _is_finished(session: CheckoutSession) -> bool:
    return session.complete or session.payment == "paid"


def _our_turn(order: Order) -> bool:
    now = timezone.now()
    due = Q(reread_at=None) | Q(reread_at__lt=now - EVERY)
    return bool(Order.objects.filter(due, pk=order.pk).update(reread_at=now))
