"""Orders that this host's log knows better than the database: it was restored from a backup."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Final

from django.db import transaction

from audit.log.reader import LoggedState, logged_states_since
from verdicts.models import Order, Recovered, Status
from verdicts.privacy.erase import ErasureBlocked, erase
from verdicts.reconciliation.discrepancies import (
    ALREADY_REPAIRED,
    BATCH_SIZE,
    Discrepancy,
    ReconcileRun,
    RepairResult,
    RepairStatus,
)

# A session is dated by Stripe's clock, its log line by ours.
CLOCK_SKEW: Final = timedelta(hours=1)
_UNFINISHED: Final = (Status.PAID, Status.GENERATING)


def read_logged(run: ReconcileRun) -> dict[str, LoggedState]:
    """By session id, what the log says of it; one pass for the whole run.

    Raises DeadlineExceeded.
    """
    return logged_states_since(run.since - CLOCK_SKEW, tick=lambda: run.advance(0))


def backup_discrepancies(logged: dict[str, LoggedState]) -> Iterator[Discrepancy]:
    """Orders that the log has as judged or erased, and the database does not.

    `logged` must be read before the orders: a log line follows the commit that it describes.
    """
    sessions = list(logged)
    for start in range(0, len(sessions), BATCH_SIZE):
        batch = Order.objects.filter(session_id__in=sessions[start : start + BATCH_SIZE])
        for order in batch.exclude(status=Status.ERASED).order_by("pk"):
            if logged[order.session_id or ""] == "erased":
                yield Discrepancy.of_order(
                    order,
                    "order lost",
                    "erased before the database was restored",
                    repair=partial(_erase, order),
                )
            elif order.status in _UNFINISHED:
                yield Discrepancy.of_order(
                    order,
                    "order lost",
                    f"its verdict is in the log, but the order is {order.get_status_display()}",
                    repair=partial(_mark_delivered, order),
                )


def _erase(order: Order) -> RepairResult:
    try:
        erase(order, who="reconcile", reason="erased before the database was restored")
    except ErasureBlocked as error:
        return RepairResult(f"not erased: {error}", RepairStatus.FAILED)
    return RepairResult("erased again")


def _mark_delivered(order: Order) -> RepairResult:
    """Its verdict was emailed before the restore, so no email is sent now."""
    with transaction.atomic():
        judged = Recovered.JUDGED
        moved = order.move(
            _UNFINISHED, Status.DELIVERED, due_at=None, recovered=judged, reason=judged.label
        )
    if not moved:
        return ALREADY_REPAIRED
    return RepairResult("marked as delivered; the email is not sent again")
