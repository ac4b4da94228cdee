"""What this host's log remembers and the database does not: it is from a backup."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Final

from django.db import transaction

from audit.log import log
from audit.log.reader import Past as Logged
from verdicts.models import Order, Recovered, Status
from verdicts.privacy.erase import Unfinished, erase
from verdicts.reconciliation.discrepancies import BATCH, FASTER, Discrepancy, Look, Repaired

# Between a session, by Stripe's clock, and its line, by ours.
CLOCKS: Final = timedelta(hours=1)
_UNFINISHED: Final = (Status.PAID, Status.GENERATING)


def remembered(look: Look) -> dict[str, Logged]:
    """One walk through the log for a whole look. Raises OutOfTime."""
    return log.pasts_since(look.since - CLOCKS, tick=lambda: look.saw(0))


def backup_discrepancies(logged: dict[str, Logged]) -> Iterator[Discrepancy]:
    """Of orders that are here: not judged yet, or not erased yet, by the database alone.

    The log must have been read before: its lines follow the commits that they tell of.
    """
    sessions = list(logged)
    for start in range(0, len(sessions), BATCH):
        some = Order.objects.filter(session_id__in=sessions[start : start + BATCH])
        for order in some.exclude(status=Status.ERASED).order_by("pk"):
            past = logged[order.session_id or ""]
            if past == "erased":
                yield _discrepancy(order, "erased before the restore", partial(_erase, order))
            elif order.status in _UNFINISHED:
                what = f"its verdict is in the log, but it is {order.get_status_display()} here"
                yield _discrepancy(order, what, partial(_deliver, order))


def _discrepancy(order: Order, what: str, repair: "partial[Repaired]") -> Discrepancy:
    return Discrepancy(
        "order lost", what, order_id=order.pk, session_id=order.session_id or "", repair=repair
    )


def _erase(order: Order) -> Repaired:
    try:
        erase(order, who="reconcile", reason="erased before the database was restored")
    except Unfinished as error:
        return Repaired(f"{error}: then once more", "failed")
    return Repaired("erased again")


def _deliver(order: Order) -> Repaired:
    with transaction.atomic():
        judged = Recovered.JUDGED
        moved = order.move(
            _UNFINISHED, Status.DELIVERED, due_at=None, recovered=judged, reason=judged.label
        )
    if not moved:
        return FASTER
    return Repaired("nothing is emailed twice, its page is made when read")
