"""What is to be done and does not move, and what waits for a person whom nobody has told.

What the sweep takes up every minute is found, and taken up, by the sweep's own
functions: here it shows where no sweep has come by.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import Model

from audit.models import CrosscheckLog
from verdicts.core.formatting import format_datetime
from verdicts.jobs import queue
from verdicts.mail.kinds import TO_CUSTOMERS
from verdicts.mail.outbox import enqueue_email
from verdicts.models import Case, Delivery, Order, Status, StripeEvent
from verdicts.payments.events import process_again
from verdicts.reconciliation import sweep
from verdicts.reconciliation.discrepancies import (
    FASTER,
    Discrepancy,
    Kind,
    Look,
    Repaired,
    console,
    each,
)
from verdicts.review.cases import open_case

M = TypeVar("M", bound=Model)

STALL_TIMEOUT: Final = 130.0  # seconds: longer than a job may take on any queue


def stalled_discrepancies(look: Look) -> Iterator[Discrepancy]:
    """Raises OutOfTime."""
    yield from chain(
        _events(look), _orders(look), _emails(look), _comparisons(look), _unsent(look), _cases(look)
    )


def idle_queues() -> list[str]:
    """Queues whose jobs nobody takes: to queue another is of no use there."""
    return [
        one for one in (queue.GENERATE, queue.POST) if queue.is_stalled(one, timeout=STALL_TIMEOUT)
    ]


def _events(look: Look) -> Iterator[Discrepancy]:
    # A refund may wait for days for a payment that is not ours.
    for event in each(
        sweep.waiting_events().exclude(outcome=StripeEvent.Outcome.UNKNOWN_PAYMENT), look
    ):
        yield Discrepancy(
            "event",
            f"{event.type} {event.event_id}, received {_at(event.received_at)}, was not acted on",
            repair=partial(_process, event),
        )


def _orders(look: Look) -> Iterator[Discrepancy]:
    for order in each(sweep.overdue_orders(), look):
        yield Discrepancy(
            "lost job",
            f"{order.get_status_display()}, to be judged {_at(order.due_at)}, nobody is at it",
            order_id=order.pk,
            session_id=order.session_id or "",
            repair=_again(sweep.order_again, order),
        )


def _emails(look: Look) -> Iterator[Discrepancy]:
    for delivery in each(sweep.overdue_deliveries().select_related("order"), look):
        yield Discrepancy(
            "lost job",
            f"{delivery.get_kind_display()} email, to be sent {_at(delivery.due_at)}, "
            "nobody is at it",
            order_id=delivery.order_id,
            session_id=delivery.order.session_id or "",
            repair=_again(sweep.delivery_again, delivery),
        )


def _comparisons(look: Look) -> Iterator[Discrepancy]:
    for regen in each(sweep.overdue_comparisons().select_related("order"), look):
        yield Discrepancy(
            "lost job",
            f"regeneration, to be compared {_at(regen.compare_due_at)}, nobody is at it",
            order_id=regen.order_id,
            session_id=regen.order.session_id or "",
            repair=_again(sweep.comparison_again, regen),
        )


def _unsent(look: Look) -> Iterator[Discrepancy]:
    """Emails that were given up: each has its case, until a person closes it."""
    emails = Case.objects.filter(kind=Case.Kind.EMAIL, closed_at=None)
    for case in each(emails.select_related("order", "delivery"), look):
        yield _for_staff("email not sent", case, str(case.delivery or "an email"))
    ended = [Delivery.State.FAILED, Delivery.State.UNCERTAIN]
    # A smoke test's order has no cases: nobody waits for it.
    untold = Delivery.objects.filter(state__in=ended, cases=None, order__smoke=False)
    untold = untold.filter(kind__in=TO_CUSTOMERS).exclude(order__status=Status.ERASED)
    for delivery in each(untold.select_related("order"), look):
        yield Discrepancy(
            "no case",
            f"{delivery.get_kind_display()} email is {delivery.get_state_display()}, no case",
            order_id=delivery.order_id,
            session_id=delivery.order.session_id or "",
            repair=partial(_open_email_case, delivery),
        )


def _cases(look: Look) -> Iterator[Discrepancy]:
    held = Case.objects.filter(kind=Case.Kind.HELD, closed_at=None, order__status=Status.HELD)
    for case in each(held.select_related("order"), look):
        yield _for_staff("held", case, case.order.reason or "its payment is held")
    ended = [Status.HELD, Status.REJECTED, Status.FAILED]
    untold = Order.objects.filter(status__in=ended, refunded_at=None, cases=None, smoke=False)
    for order in each(untold, look):
        yield Discrepancy(
            "no case",
            f"{order.get_status_display()}, and no case",
            order_id=order.pk,
            session_id=order.session_id or "",
            repair=partial(_open_case, order),
        )


def _for_staff(kind: Kind, case: Case, what: str) -> Discrepancy:
    order = case.order
    return Discrepancy(
        kind,
        what,
        console("case", case.pk),
        order_id=order.pk,
        session_id=order.session_id or "",
    )


def _again(queue_again: Callable[[M], bool], one: M) -> Callable[[], Repaired]:
    return lambda: Repaired("queued again") if queue_again(one) else FASTER


def _process(event: StripeEvent) -> Repaired:
    process_again(event)
    event.refresh_from_db()
    if event.processed_at:
        return Repaired(event.get_outcome_display())
    if event.outcome == StripeEvent.Outcome.UNKNOWN_PAYMENT:
        return Repaired("it waits for its payment")
    return Repaired("it failed: see the service log", "failed")


def _open_case(order: Order) -> Repaired:
    with transaction.atomic():
        held = order.lock()
        if held.cases.exists() or held.status != order.status:
            return FASTER
        case = open_case(held, Case.Kind(held.status), crosscheck=_rejection(held))
        return _told(held, case, held.reason)


def _told(order: Order, case: Case | None, about: str) -> Repaired:
    if case is None:
        return Repaired("a smoke test's: nobody waits for it")
    enqueue_email(order, Delivery.Kind.STAFF, name=f"case.{case.pk}", about=about)
    return Repaired(f"opened, staff are told: {console('case', case.pk)}")


def _rejection(order: Order) -> CrosscheckLog | None:
    if order.status != Status.REJECTED:
        return None
    mine = CrosscheckLog.objects.filter(session_id=order.session_id, approved=False, case=None)
    return mine.order_by("-pk").first()


def _open_email_case(delivery: Delivery) -> Repaired:
    with transaction.atomic():
        order = delivery.order.lock()
        same = Delivery.objects.filter(pk=delivery.pk, state=delivery.state, cases=None)
        if not same.exists() or order.status == Status.ERASED:
            return FASTER
        case = open_case(order, Case.Kind.EMAIL, delivery=delivery)
        about = f"the {delivery.kind} email is {delivery.get_state_display()}: {delivery.error}"
        return _told(order, case, about)


def _at(when: datetime | None) -> str:
    return format_datetime(when) if when else "at no time"
