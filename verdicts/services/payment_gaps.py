"""Stripe's books beside ours: what was paid, paid back or is on its way there, and unknown here.

Whatever is mended goes the webhook's own way, so an event that comes at the same
moment, or days later, changes nothing.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F, Min
from django.utils import timezone

from audit import log
from verdicts.core.errors import UnknownSession
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.core.tiers import Price
from verdicts.gateways.stripe_api import Account, list_sessions, retrieve_session
from verdicts.models import UNPAID, Case, Order, Status
from verdicts.services.gaps import Gap, Look, Mended, console
from verdicts.services.payments import note_refunded, note_session, recreate, why_held
from verdicts.services.refund_gaps import Charges, refund_gaps, refunded_charges
from verdicts.services.reread import YOUNG

# Sessions here, by what is said of them beside the gaps.
FINISHED: Final = "finished"
NOT_OURS: Final = "not_ours"
ERASED: Final = "erased"
OLDER: Final = "older"

# No method of payment takes longer: what has not come by then has failed, unheard.
LONGEST_PAYMENT: Final = timedelta(days=30)
AWAITED: Final = 200  # looked up one by one in a look; the next one goes on
DASHBOARD: Final = "see the payment in Stripe's dashboard"
PAY_BACK: Final = "pay it back in Stripe's dashboard: there is no query left to judge"


def payment_gaps(look: Look, *, account: Account) -> Iterator[Gap]:
    """Raises a PaymentError where Stripe cannot be asked, and OutOfTime."""
    # First: a payment that is noted late may have been paid back since.
    charges = refunded_charges(look, account)
    opened = _opened()
    for page in list_sessions(account, since=look.unix, seconds=look.left):
        look.saw(len(page))
        yield from _page_gaps(page, look, charges, opened)
    yield from refund_gaps(charges)
    yield from _awaited_gaps(look, account, charges)


def _page_gaps(
    page: list[dict[str, Any]], look: Look, charges: Charges, opened: datetime
) -> Iterator[Gap]:
    sessions = [session for raw in page if (session := read_session(raw))]
    look.counts[FINISHED] += len(page)
    look.counts[NOT_OURS] += len(page) - len(sessions)
    orders = _orders_of(sessions)
    strange = [one for one in sessions if one.id not in orders and one.tier]
    pasts = log.pasts([one.id for one in strange]) if strange else {}
    for session in sessions:
        order = orders.get(session.id)
        mend = partial(_note, session, charges.get(session.payment_intent))
        if order:
            gap = _known_gap(session, order, look, charges, mend)
        else:
            gap = _strange_gap(session, pasts.get(session.id, ""), look, opened, mend)
        if gap:
            yield gap


def _orders_of(sessions: list[CheckoutSession]) -> dict[str, Order]:
    """By session; and by token, where we died before a session's id was stored."""
    ids = [one.id for one in sessions]
    found = {one.session_id or "": one for one in Order.objects.filter(session_id__in=ids)}
    tokens = {one.reference: one.id for one in sessions if one.id not in found and one.reference}
    nameless = Order.objects.filter(token__in=list(tokens), session_id=None) if tokens else []
    return found | {tokens[str(one.token)]: one for one in nameless}


def _known_gap(
    session: CheckoutSession,
    order: Order,
    look: Look,
    charges: Charges,
    mend: Callable[[], Mended],
) -> Gap | None:
    about: Any = {"order_id": order.pk, "session_id": session.id}
    if order.status == Status.ERASED:
        look.counts[ERASED] += 1
        return _erased_gap(session, order, charges)
    if order.status in UNPAID and session.payment == "paid":
        what = f"paid {_price(session)}, but {order.get_status_display()} here"
        return Gap("payment not noted", what, mend=mend, **about)
    if order.status == Status.CREATED:
        return Gap("payment not noted", "its payment is under way", mend=mend, **about)
    if order.status in (*UNPAID, Status.HELD) or not order.query:
        return None
    wrong = why_held(order, session)
    if wrong and not order.cases.filter(kind=Case.Kind.HELD).exists():
        what = f"{wrong}, and nobody was asked"
        return Gap("amount", what, console("order", order.pk), **about)
    return None


def _erased_gap(session: CheckoutSession, order: Order, charges: Charges) -> Gap | None:
    """A payment that came to light only after its order was erased as an unpaid one."""
    paid_back = charges.get(session.payment_intent, {}).get("refunded") is True
    if order.paid_at or session.payment != "paid" or paid_back:
        return None
    what = f"paid {_price(session)}, but erased unpaid here"
    return Gap("payment not noted", what, PAY_BACK, order_id=order.pk, session_id=session.id)


def _strange_gap(
    session: CheckoutSession, past: str, look: Look, opened: datetime, mend: Callable[[], Mended]
) -> Gap | None:
    """Of a session that no order here is for."""
    if session.tier is None:
        look.counts[NOT_OURS] += 1
        return None
    if past == "erased":  # and the database is from before that
        look.counts[ERASED] += 1
        return None
    if past == "judged" and session.payment == "paid":
        what = "its verdict is in the log, its order is gone"
        return Gap("order lost", what, session_id=session.id, mend=partial(_recreate, session))
    if _was_fulfilled_elsewhere(session, opened):
        look.counts[OLDER] += 1
        return None
    what = f"paid {_price(session)}" if session.payment == "paid" else "its payment is under way"
    return Gap("missed webhook", f"{what}, no order here", session_id=session.id, mend=mend)


def _was_fulfilled_elsewhere(session: CheckoutSession, opened: datetime) -> bool:
    """Older than this house, so its email is too; a young one has its webhook on the way (R10)."""
    made = datetime.fromtimestamp(session.created or 0, tz=UTC)
    return made < opened and made < timezone.now() - YOUNG


def _awaited_gaps(look: Look, account: Account, charges: Charges) -> Iterator[Gap]:
    """Delayed payments that are older than the list: they may come days after the session."""
    # A minute, for the time between an order and its session: the list has the younger ones.
    before = look.since - timedelta(minutes=1)
    waiting = Order.objects.filter(status=Status.AWAITING, created_at__lt=before)
    longest = waiting.order_by(F("reread_at").asc(nulls_first=True), "pk")
    for order in list(longest.exclude(session_id=None)[:AWAITED]):
        look.saw()
        about: Any = {"order_id": order.pk, "session_id": order.session_id or ""}
        try:
            raw = retrieve_session(account, order.session_id or "")
        except UnknownSession:
            yield Gap("payment awaited", "Stripe does not know its session", DASHBOARD, **about)
            continue
        Order.objects.filter(pk=order.pk).update(reread_at=timezone.now())
        session = read_session(raw)
        if session and session.payment == "paid":
            what = f"paid {_price(session)}, but {order.get_status_display()} here"
            mend = partial(_note, session, charges.get(session.payment_intent))
            yield Gap("payment not noted", what, mend=mend, **about)
        elif order.created_at < timezone.now() - LONGEST_PAYMENT:
            days = (timezone.now() - order.created_at).days
            yield Gap("payment awaited", f"awaited for {days} days", DASHBOARD, **about)


# What mends

_TOLD: Final = {
    "paid": "is paid, its verdict is being made",
    "awaiting payment": "waits for its payment",
}


def _note(session: CheckoutSession, charge: dict[str, Any] | None) -> Mended:
    with transaction.atomic():
        outcome = note_session(session)
        if charge:  # before a worker takes it up: who has the money back is owed no verdict
            note_refunded(charge)
    order = Order.objects.filter(session_id=session.id).first()
    if order is None:
        return Mended(outcome, settled=False)
    if order.status == Status.HELD:
        return Mended(f"held for staff: {console('order', order.pk)}", settled=False)
    if order.refunded_at:
        return Mended(f"order {order.pk} is noted as paid, and as paid back")
    return Mended(f"order {order.pk} {_TOLD.get(outcome, f'was {outcome}')}")


def _recreate(session: CheckoutSession) -> Mended:
    with transaction.atomic():
        recreate(session)
    order = Order.objects.get(session_id=session.id)
    return Mended(f"order {order.pk} is back; nothing is emailed twice, its page is made when read")


def _opened() -> datetime:
    """When this house was set up."""
    ours = MigrationRecorder.Migration.objects.filter(app="verdicts")
    first: datetime | None = ours.aggregate(first=Min("applied"))["first"]
    return first or timezone.now()


def _price(session: CheckoutSession) -> str:
    return str(Price(session.amount_cents or 0, session.currency))
