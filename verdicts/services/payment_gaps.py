"""Stripe's books beside ours: what was paid, paid back or is on its way there, and unknown here.

Whatever is mended goes the webhook's own way, so an event that comes at the same
moment, or days later, changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from audit.log_reader import Past as Logged
from verdicts.core.errors import UnknownSession
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.core.tiers import Price
from verdicts.gateways.stripe_api import Account, list_sessions, retrieve_session
from verdicts.models import UNPAID, Case, Order, Status
from verdicts.services.gaps import FASTER, Gap, Look, Mended, console
from verdicts.services.pasts import House, Past, house, past_of
from verdicts.services.payments import note_refunded, note_session, take_in, why_held
from verdicts.services.refund_gaps import Charges, refund_gaps, refunded_charges
from verdicts.services.restored_gaps import remembered, restored_gaps

# Sessions here, by what is said of them beside the gaps.
FINISHED: Final = "finished"
NOT_OURS: Final = "not_ours"
ERASED: Final = "erased"
OLDER: Final = "older"
_LEFT_ALONE: Final[dict[Past, str]] = {"erased": ERASED, "older": OLDER}

# No method of payment takes longer: what has not come by then has failed, unheard.
LONGEST_PAYMENT: Final = timedelta(days=30)
# A webhook takes a moment: what was made just now has not missed its own.
GRACE: Final = timedelta(minutes=2)
AWAITED: Final = 200  # looked up one by one in a look; the next one goes on
DASHBOARD: Final = "see the payment in Stripe's dashboard"
OTHER_LOGS: Final = (
    "search the other hosts' oracle_log.jsonl for it; in none: send its event again from Stripe's "
    "dashboard"
)
PAY_BACK: Final = "pay it back in Stripe's dashboard: there is no query left to judge"


@dataclass(frozen=True, slots=True)
class Books:
    """What else a session is laid beside."""

    charges: Charges
    logged: dict[str, Logged]
    house: House


def payment_gaps(look: Look, *, account: Account) -> Iterator[Gap]:
    """Raises a PaymentError where Stripe cannot be asked, and OutOfTime."""
    # First: a payment that is noted late may have been paid back since.
    charges = refunded_charges(look, account)
    books = Books(charges, remembered(look), house())
    for page in list_sessions(account, since=look.unix, seconds=look.left):
        look.saw(len(page))
        yield from _page_gaps(page, look, books)
    yield from refund_gaps(charges)
    yield from restored_gaps(books.logged)
    yield from _awaited_gaps(look, account, charges)


def _page_gaps(page: list[dict[str, Any]], look: Look, books: Books) -> Iterator[Gap]:
    sessions = [session for raw in page if (session := read_session(raw))]
    look.counts[FINISHED] += len(page)
    look.counts[NOT_OURS] += len(page) - len(sessions)
    orders = _orders_of(sessions)
    in_flight = (timezone.now() - GRACE).timestamp()
    for session in sessions:
        if (session.created or 0) > in_flight:
            continue  # the next look has it, should its webhook not come
        order = orders.get(session.id)
        if order:
            gap = _known_gap(session, order, look, books)
        else:
            gap = _strange_gap(session, look, books)
        if gap:
            yield gap


def _orders_of(sessions: list[CheckoutSession]) -> dict[str, Order]:
    """By session; and by token, where we died before a session's id was stored."""
    ids = [one.id for one in sessions]
    found = {one.session_id or "": one for one in Order.objects.filter(session_id__in=ids)}
    tokens = {one.reference: one.id for one in sessions if one.id not in found and one.reference}
    nameless = Order.objects.filter(token__in=list(tokens), session_id=None) if tokens else []
    return found | {tokens[str(one.token)]: one for one in nameless}


def _known_gap(session: CheckoutSession, order: Order, look: Look, books: Books) -> Gap | None:
    about: Any = {"order_id": order.pk, "session_id": session.id}
    mend = partial(_note, session, books.charges.get(session.payment_intent))
    if order.status == Status.ERASED:
        look.counts[ERASED] += 1
        return _erased_gap(session, order, books.charges)
    if order.status in UNPAID and session.payment == "paid":
        return _unpaid_gap(session, order, books)
    if order.status == Status.CREATED:
        return Gap("payment not noted", "its payment is under way", mend=mend, **about)
    if order.status in (*UNPAID, Status.HELD) or not order.query:
        return None
    wrong = why_held(order, session)
    if wrong and not order.cases.filter(kind=Case.Kind.HELD).exists():
        what = f"{wrong}, and nobody was asked"
        return Gap("amount", what, console("order", order.pk), **about)
    return None


def _unpaid_gap(session: CheckoutSession, order: Order, books: Books) -> Gap:
    about: Any = {"order_id": order.pk, "session_id": session.id}
    here = order.get_status_display()
    if books.logged.get(session.id) == "judged":
        what = f"its verdict is in the log, but it is {here} here"
        return Gap("order lost", what, mend=partial(_take_in, session, "judged"), **about)
    mend = partial(_note, session, books.charges.get(session.payment_intent))
    what = f"paid {_price(session)}, but {here} here"
    return Gap("payment not noted", what, mend=mend, **about)


def _erased_gap(session: CheckoutSession, order: Order, charges: Charges) -> Gap | None:
    """A payment that came to light only after its order was erased as an unpaid one."""
    paid_back = charges.get(session.payment_intent, {}).get("refunded") is True
    if order.paid_at or session.payment != "paid" or paid_back:
        return None
    what = f"paid {_price(session)}, but erased unpaid here"
    return Gap("payment not noted", what, PAY_BACK, order_id=order.pk, session_id=session.id)


def _strange_gap(session: CheckoutSession, look: Look, books: Books) -> Gap | None:
    """Of a session that no order here is for."""
    if session.tier is None:
        look.counts[NOT_OURS] += 1
        return None
    past = past_of(session, books.logged.get(session.id), books.house)
    if past in _LEFT_ALONE:
        look.counts[_LEFT_ALONE[past]] += 1
        return None
    if past == "judged" and session.payment == "paid":
        what, mend = (
            "its verdict is in the log, its order is gone",
            partial(_take_in, session, past),
        )
        return Gap("order lost", what, session_id=session.id, mend=mend)
    paid = f"paid {_price(session)}" if session.payment == "paid" else "its payment is under way"
    what = f"{paid}, no order here"
    if past == "unclear":
        return Gap("missed webhook", what, OTHER_LOGS, session_id=session.id)
    note = partial(_note, session, books.charges.get(session.payment_intent))
    return Gap("missed webhook", what, session_id=session.id, mend=note)


def _awaited_gaps(look: Look, account: Account, charges: Charges) -> Iterator[Gap]:
    """Delayed payments that are older than the list: they may come days after the session."""
    # A minute, for the time between an order and its session: the list has the younger ones.
    before = look.since - timedelta(minutes=1)
    waiting = Order.objects.filter(status=Status.AWAITING, created_at__lt=before)
    longest = waiting.order_by(F("reread_at").asc(nulls_first=True), "pk")
    for order in list(longest.exclude(session_id=None)[:AWAITED]):
        look.saw()
        about: Any = {"order_id": order.pk, "session_id": order.session_id or ""}
        # Before the call: one that Stripe does not know must not keep the others from their turn.
        Order.objects.filter(pk=order.pk).update(reread_at=timezone.now())
        try:
            raw = retrieve_session(account, order.session_id or "")
        except UnknownSession:
            yield Gap("payment awaited", "Stripe does not know its session", DASHBOARD, **about)
            continue
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
        return Mended(outcome, "failed")
    if order.status == Status.HELD:
        return Mended(f"held for staff: {console('order', order.pk)}", "case")
    if order.refunded_at:
        return Mended(f"order {order.pk} is noted as paid, and as paid back")
    if outcome.startswith("already"):  # its webhook, or another look
        return FASTER
    return Mended(f"order {order.pk} {_TOLD.get(outcome, f'was {outcome}')}")


def _take_in(session: CheckoutSession, past: Past) -> Mended:
    with transaction.atomic():
        take_in(session, past)
    order = Order.objects.get(session_id=session.id)
    return Mended(f"order {order.pk} is back; nothing is emailed twice, its page is made when read")


def _price(session: CheckoutSession) -> str:
    return str(Price(session.amount_cents or 0, session.currency))
