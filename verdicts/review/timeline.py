"""An order's whole history in one place, oldest first: for the console, the page and commands.

Tells what happened, in words; none of it is a customer's or a model's text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from audit.models import Action, CrosscheckLog, DivergenceEvent, ModelCall
from verdicts.core.formatting import format_amount
from verdicts.models import CachedVerdict, Delivery, Order, Verdict


@dataclass(frozen=True, slots=True)
class Moment:
    at: datetime
    what: str  # a word to filter by
    detail: str


def timeline(order: Order) -> list[Moment]:
    """Everything on record about the order, each from its own table."""
    found = [*_payment(order), *_deliveries(order)]
    if order.session_id:
        found += [*_judgements(order.session_id), *_cached(order.session_id)]
    found += _verdicts(order)
    return sorted(found, key=lambda moment: moment.at)


def _payment(order: Order) -> Iterator[Moment]:
    yield Moment(order.created_at, "ordered", f"{order.tier}, {_money(order, order.price_cents)}")
    if order.paid_at:
        yield Moment(order.paid_at, "paid", "")
    if order.refunded_at:
        yield Moment(order.refunded_at, "refunded", _money(order, order.refunded_cents))


def _judgements(session_id: str) -> Iterator[Moment]:
    for call in ModelCall.objects.filter(session_id=session_id):
        said = f"{call.kind}: {call.model} {call.outcome} in {call.duration_ms} ms"
        yield Moment(call.created_at, "asked", f"{said}, {call.error}" if call.error else said)
    for check in CrosscheckLog.objects.filter(session_id=session_id).defer("evidence"):
        passed = "approved" if check.approved else f"rejected ({check.crosscheck_reason})"
        yield Moment(check.created_at, "checked", f"{check.kind}: {passed}")
    for event in DivergenceEvent.objects.filter(session_id=session_id):
        yield Moment(event.created_at, "compared", str(event))
    for action in Action.objects.filter(session_id=session_id):
        yield Moment(action.created_at, action.action, f"{action.who}: {action.reason}")


def _verdicts(order: Order) -> Iterator[Moment]:
    for verdict in Verdict.objects.filter(order=order).defer("payload"):
        yield Moment(verdict.created_at, "stored", f"{verdict.kind} {verdict.label}")


def _cached(session_id: str) -> Iterator[Moment]:
    for entry in CachedVerdict.objects.filter(session_id=session_id).defer("body"):
        yield Moment(entry.cached_at, "cached", f"verdict {entry.verdict_id}")


def _deliveries(order: Order) -> Iterator[Moment]:
    for delivery in Delivery.objects.filter(order=order):
        told = f"{delivery.kind} email"
        if delivery.error:
            told += f", {delivery.state}: {delivery.error}"
        yield Moment(delivery.created_at, "owed", told)
        if delivery.sent_at:
            yield Moment(delivery.sent_at, "sent", f"{delivery.kind} email")


def _money(order: Order, cents: int) -> str:
    return format_amount(cents, order.currency)
