"""Overdue work that no worker is processing, and cases for staff: open ones and missing ones.

Overdue work is found and requeued by the same functions as the sweep's, so it is listed here only
where the sweep has not run.
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
    ALREADY_REPAIRED,
    Discrepancy,
    Kind,
    ReconcileRun,
    RepairResult,
    RepairStatus,
    console_url,
    iterate,
)
from verdicts.review.cases import open_case

M = TypeVar("M", bound=Model)

STALL_TIMEOUT: Final = 130.0  # seconds: longer than a job may take on any queue


def stalled_discrepancies(run: ReconcileRun) -> Iterator[Discrepancy]:
    """Raises DeadlineExceeded."""
    yield from chain(
        _unprocessed_events(run),
        _overdue_orders(run),
        _overdue_emails(run),
        _overdue_comparisons(run),
        _unsent_emails(run),
        _cases(run),
    )


def idle_queues() -> list[str]:
    """Queues with waiting jobs and no worker that takes them: requeueing does not help there."""
    return [
        name
        for name in (queue.GENERATE, queue.POST)
        if queue.is_stalled(name, timeout=STALL_TIMEOUT)
    ]


def _unprocessed_events(run: ReconcileRun) -> Iterator[Discrepancy]:
    events = sweep.unprocessed_events()
    # A refund of a payment that is unknown here may never find its order: it is not ours.
    for event in iterate(events.exclude(outcome=StripeEvent.Outcome.UNKNOWN_PAYMENT), run):
        yield Discrepancy(
            "event",
            f"{event.type} {event.event_id}, received {_at(event.received_at)}, not processed",
            repair=partial(_process, event),
        )


def _overdue_orders(run: ReconcileRun) -> Iterator[Discrepancy]:
    for order in iterate(sweep.overdue_orders(), run):
        what = f"order {order.get_status_display()}"
        yield _lost_job(what, order.due_at, order, _requeueing(sweep.requeue_order, order))


def _overdue_emails(run: ReconcileRun) -> Iterator[Discrepancy]:
    for delivery in iterate(sweep.overdue_deliveries().select_related("order"), run):
        what = f"{delivery.get_kind_display()} email"
        repair = _requeueing(sweep.requeue_delivery, delivery)
        yield _lost_job(what, delivery.due_at, delivery.order, repair)


def _overdue_comparisons(run: ReconcileRun) -> Iterator[Discrepancy]:
    for regen in iterate(sweep.overdue_comparisons().select_related("order"), run):
        repair = _requeueing(sweep.requeue_comparison, regen)
        yield _lost_job("comparison", regen.compare_due_at, regen.order, repair)


def _lost_job(
    what: str, due_at: datetime | None, order: Order, repair: Callable[[], RepairResult]
) -> Discrepancy:
    description = f"{what}, due {_at(due_at)}, not being processed"
    return Discrepancy.of_order(order, "lost job", description, repair=repair)


def _unsent_emails(run: ReconcileRun) -> Iterator[Discrepancy]:
    """Emails that were given up on: each has a case, which staff close."""
    emails = Case.objects.filter(kind=Case.Kind.EMAIL, closed_at=None)
    for case in iterate(emails.select_related("order", "delivery"), run):
        yield _for_staff("email not sent", case, str(case.delivery or "an email"))
    given_up = [Delivery.State.FAILED, Delivery.State.UNCERTAIN]
    # An order of a smoke test never has a case.
    without_case = Delivery.objects.filter(state__in=given_up, cases=None, order__smoke=False)
    without_case = without_case.filter(kind__in=TO_CUSTOMERS).exclude(order__status=Status.ERASED)
    for delivery in iterate(without_case.select_related("order"), run):
        yield Discrepancy.of_order(
            delivery.order,
            "no case",
            f"{delivery.get_kind_display()} email without a case: {delivery.get_state_display()}",
            repair=partial(_open_email_case, delivery),
        )


def _cases(run: ReconcileRun) -> Iterator[Discrepancy]:
    held = Case.objects.filter(kind=Case.Kind.HELD, closed_at=None, order__status=Status.HELD)
    for case in iterate(held.select_related("order"), run):
        yield _for_staff("held", case, case.order.reason or "its payment is held")
    ended = [Status.HELD, Status.REJECTED, Status.FAILED]
    without_case = Order.objects.filter(status__in=ended, refunded_at=None, cases=None, smoke=False)
    for order in iterate(without_case, run):
        yield Discrepancy.of_order(
            order,
            "no case",
            f"order without a case: {order.get_status_display()}",
            repair=partial(_open_order_case, order),
        )


def _for_staff(kind: Kind, case: Case, description: str) -> Discrepancy:
    return Discrepancy.of_order(case.order, kind, description, console_url("case", case.pk))


# Repairs


def _requeueing(requeue: Callable[[M], bool], row: M) -> Callable[[], RepairResult]:
    return lambda: RepairResult("requeued") if requeue(row) else ALREADY_REPAIRED


def _process(event: StripeEvent) -> RepairResult:
    process_again(event)
    event.refresh_from_db()
    if event.processed_at:
        return RepairResult(event.get_outcome_display())
    if event.outcome == StripeEvent.Outcome.UNKNOWN_PAYMENT:
        return RepairResult("waiting for its payment's event")
    return RepairResult("failed, see the service log", RepairStatus.FAILED)


def _open_order_case(order: Order) -> RepairResult:
    with transaction.atomic():
        locked = order.lock()
        if locked.cases.exists() or locked.status != order.status:
            return ALREADY_REPAIRED
        case = open_case(locked, Case.Kind(locked.status), crosscheck=_rejection(locked))
        return _notify_staff(locked, case, locked.reason)


def _open_email_case(delivery: Delivery) -> RepairResult:
    with transaction.atomic():
        order = delivery.order.lock()
        same = Delivery.objects.filter(pk=delivery.pk, state=delivery.state, cases=None)
        if not same.exists() or order.status == Status.ERASED:
            return ALREADY_REPAIRED
        case = open_case(order, Case.Kind.EMAIL, delivery=delivery)
        about = f"{delivery.kind} email {delivery.get_state_display()}: {delivery.error}"
        return _notify_staff(order, case, about)


def _notify_staff(order: Order, case: Case | None, about: str) -> RepairResult:
    if case is None:
        return RepairResult("no case: the order is a smoke test's")
    enqueue_email(order, Delivery.Kind.STAFF, name=f"case.{case.pk}", about=about)
    return RepairResult(f"case opened, staff notified: {console_url('case', case.pk)}")


def _rejection(order: Order) -> CrosscheckLog | None:
    if order.status != Status.REJECTED:
        return None
    unassigned = CrosscheckLog.objects.filter(
        session_id=order.session_id, approved=False, case=None
    )
    return unassigned.order_by("-pk").first()


def _at(when: datetime | None) -> str:
    return format_datetime(when) if when else "(no time set)"
