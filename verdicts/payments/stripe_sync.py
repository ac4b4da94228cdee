"""Re-reads sessions from Stripe before a reader is told "unpaid" or "unknown" (R10).

The buyer's redirect often arrives before the webhook. What Stripe reports is recorded by the same
functions as an event.
"""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from verdicts.core.errors import PaymentsBusy, UnknownSession
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.http.concurrency_limit import ConcurrencyLimit
from verdicts.models import UNPAID, Order
from verdicts.payments.accept_payment import import_session, record_session
from verdicts.payments.client import Account, retrieve_session
from verdicts.payments.session_history import history_of, installation, logged

# At most one re-read per order in this time, however often its page is loaded.
REREAD_INTERVAL: Final = timedelta(seconds=2)

# Of this process: readers that wait for Stripe must not occupy all threads.
in_progress = ConcurrencyLimit()


def is_unpaid(order: Order, *, account: Account) -> bool | None:
    """Whether Stripe, too, reports it unpaid. None: Stripe cannot be asked now (rate limit).

    Raises a PaymentError. The order is updated to what Stripe reports.
    """
    if order.status not in UNPAID or not order.session_id:
        return False
    with in_progress.acquire(limit=settings.SERVING.lookups) as free:
        if not free or not _claim_reread(order):
            return None
        reread(order, account=account)
    return order.status in UNPAID


def reread(order: Order, *, account: Account) -> None:
    """Update the order to what Stripe reports about its session. Raises a PaymentError."""
    session = read_session(retrieve_session(account, order.session_id or ""))
    if session and _is_finished(session):
        with transaction.atomic():
            record_session(session)
    order.refresh_from_db()


def import_from_stripe(session_id: str, *, account: Account) -> Order | None:
    """The order of a session that is unknown here, created from Stripe's; None: it is unpaid.

    Raises a PaymentError: UnknownSession for sessions that are not ours.
    """
    with in_progress.acquire(limit=settings.SERVING.lookups) as free:
        if not free:
            raise PaymentsBusy("too many readers are waiting for Stripe")
        session = read_session(retrieve_session(account, session_id))
    if session is None or session.id != session_id or session.tier is None:
        raise UnknownSession("not a session of ours")
    if not _is_finished(session):
        return None
    history = history_of(session, logged(session_id), installation())
    with transaction.atomic():
        import_session(session, history)
    return Order.objects.get(session_id=session_id)


def _is_finished(session: CheckoutSession) -> bool:
    return session.complete or session.payment == "paid"


def _claim_reread(order: Order) -> bool:
    now = timezone.now()
    due = Q(reread_at=None) | Q(reread_at__lt=now - REREAD_INTERVAL)
    return bool(Order.objects.filter(due, pk=order.pk).update(reread_at=now))
