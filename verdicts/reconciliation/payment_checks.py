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

from audit.log.reader import Past as Logged
from verdicts.core.errors import UnknownSession
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.core.tiers import Price
from verdicts.models import UNPAID, Case, Order, Status, StripeEvent
from verdicts.payments.accept_payment import import_session, record_session, why_held
from verdicts.payments.client import Account, list_sessions, retrieve_session
from verdicts.payments.refunds import record_refunded_charge
from verdicts.payments.session_history import Installation, Past, installation, past_of
from verdicts.reconciliation.backup_checks import backup_discrepancies, remembered
from verdicts.reconciliation.discrepancies import FASTER, Discrepancy, Look, Repaired, console
from verdicts.reconciliation.refund_checks import Charges, refund_discrepancies, refunded_charges

# Sessions here, by what is said of them beside the gaps.
FINISHED: Final = "finished"
NOT_OURS: Final = "not_ours"
ERASED: Final = "erased"
OLDER: Final = "older"
_LEFT_ALONE: Final[dict[Past, str]] = {"erased": ERASED, "older": OLDER}

# No method of payment takes longer: what has not come by then has failed, unheard.
MAX_PAYMENT: Final = timedelta(days=30)
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
    installation: Installation


def payment_discrepancies(look: Look, *, account: Account) -> Iterator[Discrepancy]:
    """Raises a PaymentError where Stripe cannot be asked, and OutOfTime."""
    # First: a payment that is noted late may have been paid back since.
    charges = refunded_charges(look, account)
    books = Books(charges, remembered(look), installation())
    for page in list_sessions(account, since=look.unix, seconds=look.left):
        look.saw(len(page))
        yield from _page_discrepancies(page, look, books)
    yield from refund_discrepancies(charges)
    yield from backup_discrepancies(books.logged)
    yield from _awaited_discrepancies(look, account, charges)


def _page_discrepancies(
    page: list[dict[str, Any]], look: Look, books: Books
) -> Iterator[Discrepancy]:
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
            discrepancy = _known_discrepancy(session, order, look, books)
        else:
            discrepancy = _strange_discrepancy(session, look, books)
        if discrepancy:
            yield discrepancy


def _orders_of(sessions: list[CheckoutSession]) -> dict[str, Order]:
    """By session; and by token, where we died before a session's id was stored."""
    ids = [one.id for one in sessions]
    found = {one.session_id or "": one for one in Order.objects.filter(session_id__in=ids)}
    tokens = {one.reference: one.id for one in sessions if one.id not in found and one.reference}
    nameless = Order.objects.filter(token__in=list(tokens), session_id=None) if tokens else []
    return found | {tokens[str(one.token)]: one for one in nameless}


def _known_discrepancy(
    session: CheckoutSession, order: Order, look: Look, books: Books
) -> Discrepancy | None:
    about: Any = {"order_id": order.pk, "session_id": session.id}
    repair = partial(_note, session, books.charges.get(session.payment_intent))
    if order.status == Status.ERASED:
        look.counts[ERASED] += 1
        return _erased_discrepancy(session, order, books.charges)
    if order.status in UNPAID and session.payment == "paid":
        return _unpaid_discrepancy(session, order, books)
    if order.status == Status.CREATED:
        return Discrepancy("payment not noted", "its payment is under way", repair=repair, **about)
    if order.status in (*UNPAID, Status.HELD) or not order.query:
        return None
    wrong = why_held(order, session)
    if wrong and not order.cases.filter(kind=Case.Kind.HELD).exists():
        what = f"{wrong}, and nobody was asked"
        return Discrepancy("amount", what, console("order", order.pk), **about)
    return None


def _unpaid_discrepancy(session: CheckoutSession, order: Order, books: Books) -> Discrepancy:
    about: Any = {"order_id": order.pk, "session_id": session.id}
    here = order.get_status_display()
    if books.logged.get(session.id) == "judged":
        what = f"its verdict is in the log, but it is {here} here"
        return Discrepancy("order lost", what, repair=partial(_take_in, session, "judged"), **about)
    repair = partial(_note, session, books.charges.get(session.payment_intent))
    what = f"paid {_price(session)}, but {here} here"
    return Discrepancy("payment not noted", what, repair=repair, **about)


def _erased_discrepancy(
    session: CheckoutSession, order: Order, charges: Charges
) -> Discrepancy | None:
    """A payment that came to light only after its order was erased as an unpaid one."""
    paid_back = charges.get(session.payment_intent, {}).get("refunded") is True
    if order.paid_at or session.payment != "paid" or paid_back:
        return None
    what = f"paid {_price(session)}, but erased unpaid here"
    return Discrepancy(
        "payment not noted", what, PAY_BACK, order_id=order.pk, session_id=session.id
    )


def _strange_discrepancy(session: CheckoutSession, look: Look, books: Books) -> Discrepancy | None:
    """Of a session that no order here is for."""
    if session.tier is None:
        look.counts[NOT_OURS] += 1
        return None
    past = past_of(session, books.logged.get(session.id), books.installation)
    if past in _LEFT_ALONE:
        look.counts[_LEFT_ALONE[past]] += 1
        return None
    if past == "judged" and session.payment == "paid":
        what, repair = (
            "its verdict is in the log, its order is gone",
            partial(_take_in, session, past),
        )
        return Discrepancy("order lost", what, session_id=session.id, repair=repair)
    paid = f"paid {_price(session)}" if session.payment == "paid" else "its payment is under way"
    what = f"{paid}, no order here"
    if past == "unclear":
        return Discrepancy("missed webhook", what, OTHER_LOGS, session_id=session.id)
    note = partial(_note, session, books.charges.get(session.payment_intent))
    return Discrepancy("missed webhook", what, session_id=session.id, repair=note)


def _awaited_discrepancies(look: Look, account: Account, charges: Charges) -> Iterator[Discrepancy]:
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
            yield Discrepancy(
                "payment awaited", "Stripe does not know its session", DASHBOARD, **about
            )
            continue
        session = read_session(raw)
        if session and session.payment == "paid":
            what = f"paid {_price(session)}, but {order.get_status_display()} here"
            repair = partial(_note, session, charges.get(session.payment_intent))
            yield Discrepancy("payment not noted", what, repair=repair, **about)
        elif order.created_at < timezone.now() - MAX_PAYMENT:
            days = (timezone.now() - order.created_at).days
            yield Discrepancy("payment awaited", f"awaited for {days} days", DASHBOARD, **about)


Outcome = StripeEvent.Outcome
# What mends

_TOLD: Final = {
    Outcome.PAID: "is paid, its verdict is being made",
    Outcome.AWAITING: "waits for its payment",
}


def _note(session: CheckoutSession, charge: dict[str, Any] | None) -> Repaired:
    with transaction.atomic():
        outcome = record_session(session)
        if charge:  # before a worker takes it up: who has the money back is owed no verdict
            record_refunded_charge(charge)
    order = Order.objects.filter(session_id=session.id).first()
    if order is None:
        return Repaired(outcome.label, "failed")
    if order.status == Status.HELD:
        return Repaired(f"held for staff: {console('order', order.pk)}", "case")
    if order.refunded_at:
        return Repaired(f"order {order.pk} is noted as paid, and as paid back")
    if outcome in (Outcome.ALREADY_PAID, Outcome.ALREADY_ADVANCED):  # by webhook, or another run
        return FASTER
    return Repaired(f"order {order.pk} {_TOLD.get(outcome, f'was {outcome.label}')}")


def _take_in(session: CheckoutSession, past: Past) -> Repaired:
    with transaction.atomic():
        import_session(session, past)
    order = Order.objects.get(session_id=session.id)
    return Repaired(
        f"order {order.pk} is back; nothing is emailed twice, its page is made when read"
    )


def _price(session: CheckoutSession) -> str:
    return str(Price(session.amount_cents or 0, session.currency))
