"""What a reader of a session gets: the cached response, or the state of its order."""

import logging
from typing import Final

from django.conf import settings
from django.db import transaction

from verdicts.core.errors import PaymentError, UnknownSession
from verdicts.core.read_outcomes import RETRY_LATER, RETRY_SOON, Name
from verdicts.core.sessions import is_session_id
from verdicts.generation.generate import Generate
from verdicts.models import Order, Status, Verdict
from verdicts.payments import rate_limit
from verdicts.payments.client import Account
from verdicts.payments.stripe_sync import import_from_stripe, is_unpaid
from verdicts.results import cache
from verdicts.results.outcome import Outcome
from verdicts.results.read_counter import hits
from verdicts.results.regenerate import regenerate

logger = logging.getLogger(__name__)

# The outcome for each status but DELIVERED, which regenerates.
OUTCOME_BY_STATUS: Final[dict[str, Name]] = {
    Status.CREATED: "unpaid",
    Status.EXPIRED: "unpaid",
    Status.PAYMENT_FAILED: "unpaid",
    Status.AWAITING: "working",
    Status.PAID: "working",
    Status.GENERATING: "working",
    Status.HELD: "working",
    Status.REJECTED: "rejected",
    Status.FAILED: "failed",
    Status.ERASED: "erased",
}


def read(session_id: str, *, address: str, account: Account, model: str, ask: Generate) -> Outcome:
    """What the session's reader gets. `address` is the reader's, for the rate limit.

    Raises DatabaseError: a cache that cannot be read is not a miss (R4).
    """
    if not is_session_id(session_id):
        return _counted(Outcome("malformed"))
    entry = cache.find(session_id)
    if entry:
        hits.count(entry.verdict_id)
        return Outcome("verdict", entry=entry)
    return _counted(_not_cached(session_id, address, account, model=model, ask=ask))


def _counted(outcome: Outcome) -> Outcome:
    if not (outcome.order and outcome.order.smoke):
        hits.count_other(outcome.name)
    return outcome


def _not_cached(
    session_id: str, address: str, account: Account, *, model: str, ask: Generate
) -> Outcome:
    order = Order.objects.filter(session_id=session_id).first()
    try:
        outcome = _order_state(order, session_id, address=address, account=account)
    except UnknownSession:
        return Outcome("unknown", order)
    except PaymentError as error:
        logger.warning("Stripe cannot be asked: %s", error)
        return Outcome("try-later", order, retry_after=RETRY_LATER)
    if isinstance(outcome, Outcome):
        return outcome
    return _missed(outcome, model=model, ask=ask)


def _order_state(
    order: Order | None, session_id: str, *, address: str, account: Account
) -> Outcome | Order:
    """The outcome by the order's status; the order itself if delivered: a cache miss."""
    if order is None:
        if not rate_limit.allowed(address):
            return Outcome("too-many", retry_after=rate_limit.wait())
        order = import_from_stripe(session_id, account=account)
        if order is None:
            return Outcome("unpaid")
    elif is_unpaid(order, account=account) is None:
        # Never answered "unpaid" without asking Stripe.
        return Outcome("asking", order, retry_after=RETRY_SOON)
    if order.status == Status.DELIVERED:
        return order
    name = OUTCOME_BY_STATUS[order.status]
    return Outcome(name, order, retry_after=RETRY_SOON if name == "working" else 0)


def _missed(order: Order, *, model: str, ask: Generate) -> Outcome:
    # Delivered and cached commit together: it may have happened since the first look-up.
    entry = cache.find(order.session_id or "")
    if entry:
        return Outcome("verdict", order, entry=entry)
    if settings.ORACLE_CACHE_MISS == "stored":
        with transaction.atomic():
            order = order.lock()
            original = Verdict.original_of(order)
            if original and order.status == Status.DELIVERED:
                return Outcome("verdict", order, entry=cache.put(order, original, None))
    return regenerate(order, model=model, ask=ask)
