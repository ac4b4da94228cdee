"""Timeline of an order: everything recorded about it, oldest first, for the console.

It contains no text of the customer or the model.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from audit.models import Action, CrosscheckLog, DivergenceEvent, ModelCall
from verdicts.core.formatting import format_amount
from verdicts.models import CachedVerdict, Delivery, Order, Verdict


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    at: datetime
    what: str  # displayed only
    detail: str


def timeline(order: Order) -> list[TimelineEntry]:
    found = [*_payment(order), *_deliveries(order)]
    if order.session_id:
        found += [*_calls_and_checks(order.session_id), *_cached(order.session_id)]
    found += _verdicts(order)
    return sorted(found, key=lambda entry: entry.at)


def _payment(order: Order) -> Iterator[TimelineEntry]:
    yield TimelineEntry(
        order.created_at, "ordered", f"{order.tier}, {_money(order, order.price_cents)}"
    )
    if order.paid_at:
        yield TimelineEntry(order.paid_at, "paid", "")
    if order.refunded_at:
        yield TimelineEntry(order.refunded_at, "refunded", _money(order, order.refunded_cents))


def _calls_and_checks(session_id: str) -> Iterator[TimelineEntry]:
    for call in ModelCall.objects.filter(session_id=session_id):
        detail = f"{call.kind}: {call.model} {call.outcome} in {call.duration_ms} ms"
        if call.error:
            detail += f", {call.error}"
        yield TimelineEntry(call.created_at, "model call", detail)
    for check in CrosscheckLog.objects.filter(session_id=session_id).defer("evidence"):
        decision = "approved" if check.approved else f"rejected ({check.crosscheck_reason})"
        yield TimelineEntry(check.created_at, "checked", f"{check.kind}: {decision}")
    for event in DivergenceEvent.objects.filter(session_id=session_id):
        yield TimelineEntry(event.created_at, "compared", str(event))
    for action in Action.objects.filter(session_id=session_id):
        yield TimelineEntry(action.created_at, action.action, f"{action.who}: {action.reason}")


def _verdicts(order: Order) -> Iterator[TimelineEntry]:
    for verdict in Verdict.objects.filter(order=order).defer("payload"):
        yield TimelineEntry(verdict.created_at, "stored", f"{verdict.kind} {verdict.label}")


def _cached(session_id: str) -> Iterator[TimelineEntry]:
    for entry in CachedVerdict.objects.filter(session_id=session_id).defer("body"):
        yield TimelineEntry(entry.cached_at, "cached", f"verdict {entry.verdict_id}")


def _deliveries(order: Order) -> Iterator[TimelineEntry]:
    for delivery in Delivery.objects.filter(order=order):
        detail = f"{delivery.kind} email"
        if delivery.error:
            detail += f", {delivery.state}: {delivery.error}"
        yield TimelineEntry(delivery.created_at, "queued", detail)
        if delivery.sent_at:
            yield TimelineEntry(delivery.sent_at, "sent", f"{delivery.kind} email")


def _money(order: Order, cents: int) -> str:
    return format_amount(cents, order.currency)
