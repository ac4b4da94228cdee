"""Compares Stripe's payments with the orders recorded here.

Repairs go through the same functions as webhooks, so an event that arrives at the same time, or
days later, changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from audit.log.reader import LoggedState
from verdicts.core.errors import UnknownSession
from verdicts.core.sessions import CheckoutSession, read_session
from verdicts.core.tiers import Price
from verdicts.models import UNPAID, Case, Order, Status, StripeEvent
from verdicts.payments.accept_payment import import_session, record_session, why_held
from verdicts.payments.client import Account, list_sessions, retrieve_session
from verdicts.payments.refunds import record_refunded_charge
from verdicts.payments.session_history import Installation, SessionHistory, history_of, installation
from verdicts.reconciliation.backup_checks import backup_discrepancies, read_logged
from verdicts.reconciliation.discrepancies import (
    ALREADY_REPAIRED,
    APPLY_COMMAND,
    Discrepancy,
    Kind,
    ReconcileRun,
    RepairResult,
    RepairStatus,
    console_url,
)
from verdicts.reconciliation.refund_checks import Charges, refund_discrepancies, refunded_charges

# Counts of sessions, reported beside the discrepancies.
FINISHED: Final = "finished"
NOT_OURS: Final = "not_ours"
ERASED: Final = "erased"
OLDER: Final = "older"
_IGNORED: Final[dict[SessionHistory, str]] = {"erased": ERASED, "older": OLDER}

# No payment method takes longer: a payment still pending by then has failed without an event.
MAX_PAYMENT_TIME: Final = timedelta(days=30)
# The webhook of a session this young may still be on its way.
WEBHOOK_GRACE: Final = timedelta(minutes=2)
MAX_PENDING_PER_RUN: Final = 200  # looked up one by one; the next run continues with the rest
SEE_DASHBOARD: Final = "check the payment in Stripe's dashboard"
SEARCH_OTHER_LOGS: Final = (
    "search the other hosts' oracle_log.jsonl for the session; if none has it, resend its event "
    "from Stripe's dashboard"
)
REFUND_ERASED: Final = "refund it in Stripe's dashboard: the query is erased"


@dataclass(frozen=True, slots=True)
class ReferenceData:
    """What sessions are compared with, read once per run."""

    charges: Charges
    logged: dict[str, LoggedState]
    installation: Installation


def payment_discrepancies(run: ReconcileRun, *, account: Account) -> Iterator[Discrepancy]:
    """Raises a PaymentError where Stripe cannot be queried, and DeadlineExceeded."""
    # Refunds first: a payment that is recorded late may have been refunded since.
    charges = refunded_charges(run, account)
    reference = ReferenceData(charges, read_logged(run), installation())
    for page in list_sessions(account, since=run.since_timestamp, seconds=run.remaining):
        run.advance(len(page))
        yield from _page_discrepancies(page, run, reference)
    yield from refund_discrepancies(charges)
    yield from backup_discrepancies(reference.logged)
    yield from _pending_discrepancies(run, account, charges)


def _page_discrepancies(
    page: list[dict[str, Any]], run: ReconcileRun, reference: ReferenceData
) -> Iterator[Discrepancy]:
    sessions = [session for raw in page if (session := read_session(raw))]
    run.counts[FINISHED] += len(page)
    run.counts[NOT_OURS] += len(page) - len(sessions)
    orders = _orders_of(sessions)
    in_flight = (timezone.now() - WEBHOOK_GRACE).timestamp()
    for session in sessions:
        if (session.created or 0) > in_flight:
            continue  # the next run checks it
        order = orders.get(session.id)
        if order:
            discrepancy = _check_order(session, order, run, reference)
        else:
            discrepancy = _check_unknown_session(session, run, reference)
        if discrepancy:
            yield discrepancy


def _orders_of(sessions: list[CheckoutSession]) -> dict[str, Order]:
    """By session id; found by token where the process died before it stored the session id."""
    ids = [session.id for session in sessions]
    found = {order.session_id or "": order for order in Order.objects.filter(session_id__in=ids)}
    tokens = {one.reference: one.id for one in sessions if one.id not in found and one.reference}
    by_token = Order.objects.filter(token__in=list(tokens), session_id=None) if tokens else []
    return found | {tokens[str(order.token)]: order for order in by_token}


def _check_order(
    session: CheckoutSession, order: Order, run: ReconcileRun, reference: ReferenceData
) -> Discrepancy | None:
    if order.status == Status.ERASED:
        run.counts[ERASED] += 1
        return _check_erased(session, order, reference.charges)
    if order.status in UNPAID and session.payment == "paid":
        return _unrecorded_payment(session, order, reference)
    if order.status == Status.CREATED:
        return _discrepancy(
            session,
            "payment not noted",
            "its payment is pending, but not recorded here",
            order=order,
            repair=_recording(session, reference.charges),
        )
    if order.status in (*UNPAID, Status.HELD) or not order.query:
        return None
    wrong = why_held(order, session)
    if wrong and not order.cases.filter(kind=Case.Kind.HELD).exists():
        description, page = f"{wrong}, and it has no case", console_url("order", order.pk)
        return _discrepancy(session, "amount", description, page, order=order)
    return None


def _unrecorded_payment(
    session: CheckoutSession, order: Order, reference: ReferenceData
) -> Discrepancy:
    if reference.logged.get(session.id) == "judged":
        return _discrepancy(
            session,
            "order lost",
            f"its verdict is in the log, but it is recorded as {order.get_status_display()}",
            order=order,
            repair=partial(_import, session, "judged"),
        )
    return _paid_but_unrecorded(session, order, reference.charges)


def _paid_but_unrecorded(session: CheckoutSession, order: Order, charges: Charges) -> Discrepancy:
    return _discrepancy(
        session,
        "payment not noted",
        f"paid {_price(session)}, but recorded as {order.get_status_display()}",
        order=order,
        repair=_recording(session, charges),
    )


def _check_erased(session: CheckoutSession, order: Order, charges: Charges) -> Discrepancy | None:
    """A payment on an order that was erased while it was unpaid."""
    is_refunded = charges.get(session.payment_intent, {}).get("refunded") is True
    if order.paid_at or session.payment != "paid" or is_refunded:
        return None
    description = f"paid {_price(session)}, but erased before it was paid"
    return _discrepancy(session, "payment not noted", description, REFUND_ERASED, order=order)


def _check_unknown_session(
    session: CheckoutSession, run: ReconcileRun, reference: ReferenceData
) -> Discrepancy | None:
    """A session without an order here."""
    if session.tier is None:
        run.counts[NOT_OURS] += 1
        return None
    history = history_of(session, reference.logged.get(session.id), reference.installation)
    if history in _IGNORED:
        run.counts[_IGNORED[history]] += 1
        return None
    if history == "judged" and session.payment == "paid":
        return _discrepancy(
            session,
            "order lost",
            "its verdict is in the log, but there is no order",
            repair=partial(_import, session, history),
        )
    state = f"paid {_price(session)}" if session.payment == "paid" else "its payment is pending"
    description = f"{state}, but there is no order"
    if history == "unclear":
        return _discrepancy(session, "missed webhook", description, SEARCH_OTHER_LOGS)
    recording = _recording(session, reference.charges)
    return _discrepancy(session, "missed webhook", description, repair=recording)


def _pending_discrepancies(
    run: ReconcileRun, account: Account, charges: Charges
) -> Iterator[Discrepancy]:
    """Delayed payments of sessions that are too old for the list: they can arrive days later."""
    # A minute earlier, because an order is created before its session. Younger ones are listed.
    before = run.since - timedelta(minutes=1)
    pending = Order.objects.filter(status=Status.AWAITING, created_at__lt=before)
    oldest_first = pending.order_by(F("reread_at").asc(nulls_first=True), "pk")
    for order in list(oldest_first.exclude(session_id=None)[:MAX_PENDING_PER_RUN]):
        run.advance()
        # Before the call: sessions unknown to Stripe must not be first in every run.
        Order.objects.filter(pk=order.pk).update(reread_at=timezone.now())
        try:
            raw = retrieve_session(account, order.session_id or "")
        except UnknownSession:
            yield Discrepancy.of_order(
                order, "payment awaited", "Stripe does not know its session", SEE_DASHBOARD
            )
            continue
        session = read_session(raw)
        if session and session.payment == "paid":
            yield _paid_but_unrecorded(session, order, charges)
        elif order.created_at < timezone.now() - MAX_PAYMENT_TIME:
            days = (timezone.now() - order.created_at).days
            yield Discrepancy.of_order(
                order, "payment awaited", f"pending for {days} days", SEE_DASHBOARD
            )


# Repairs

Outcome = StripeEvent.Outcome

_RESULTS: Final = {
    Outcome.PAID: "is paid; its verdict is being generated",
    Outcome.AWAITING: "is waiting for its payment",
}


def _recording(session: CheckoutSession, charges: Charges) -> "partial[RepairResult]":
    return partial(_record, session, charges.get(session.payment_intent))


def _record(session: CheckoutSession, charge: dict[str, Any] | None) -> RepairResult:
    with transaction.atomic():
        outcome = record_session(session)
        if charge:  # in the same transaction: a refunded order must not be generated
            record_refunded_charge(charge)
    order = Order.objects.filter(session_id=session.id).first()
    if order is None:
        return RepairResult(outcome.label, RepairStatus.FAILED)
    if order.status == Status.HELD:
        page = console_url("order", order.pk)
        return RepairResult(f"held for staff: {page}", RepairStatus.CASE_OPENED)
    if order.refunded_at:
        return RepairResult(f"order {order.pk} is recorded as paid and refunded")
    if outcome in (Outcome.ALREADY_PAID, Outcome.ALREADY_ADVANCED):  # by a webhook or another run
        return ALREADY_REPAIRED
    return RepairResult(f"order {order.pk} {_RESULTS.get(outcome, f'was {outcome.label}')}")


def _import(session: CheckoutSession, history: SessionHistory) -> RepairResult:
    with transaction.atomic():
        import_session(session, history)
    order = Order.objects.get(session_id=session.id)
    return RepairResult(f"order {order.pk} is recreated; the email is not sent again")


def _discrepancy(
    session: CheckoutSession,
    kind: Kind,
    description: str,
    remedy: str = APPLY_COMMAND,
    *,
    order: Order | None = None,
    repair: "partial[RepairResult] | None" = None,
) -> Discrepancy:
    """Of the session, whose id the order may lack."""
    return Discrepancy(kind, description, remedy, order.pk if order else None, session.id, repair)


def _price(session: CheckoutSession) -> str:
    return str(Price(session.amount_cents or 0, session.currency))
