"""What web processes have counted, added to orders and days."""

from typing import Final

from django.db import connection, transaction

from audit.models import DayCount
from verdicts.models import Order, Reads

_ADD: Final = "UPDATE verdicts_order SET hits = hits + %s, last_read_at = %s WHERE session_id = %s"


def add_up(*, most: int) -> int:
    """`most` batches at most, the oldest first; returns how many reads there were.

    Safe to run in several places at once: each batch is added by whoever deletes it.
    """
    return sum(_add_oldest() for _ in range(min(most, Reads.objects.count())))


def _add_oldest() -> int:
    with transaction.atomic():
        batch = Reads.objects.select_for_update(skip_locked=True).order_by("pk").first()
        if batch is None:
            return 0
        batch.delete()
        hits = _add_hits(batch)
        for outcome, number in sorted(batch.others.items()):
            DayCount.add(batch.created_at.date(), DayCount.READ, key=outcome, by=number)
    return hits + _total(batch.others)


def _add_hits(batch: Reads) -> int:
    at = connection.ops.adapt_datetimefield_value(batch.created_at)
    # In one order everywhere, so that no two can wait for each other. One statement for
    # all of them: the ORM would take longer than the reads did.
    rows = [(number, at, session_id) for session_id, number in sorted(batch.sessions.items())]
    if not rows:
        return 0
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)
    smoke = Order.objects.filter(smoke=True, session_id__in=[*batch.sessions])
    tested = sum(batch.sessions[one] for one in smoke.values_list("session_id", flat=True) if one)
    hits = _total(batch.sessions)
    if hits > tested:
        DayCount.add(batch.created_at.date(), DayCount.HIT, by=hits - tested)
    return hits


def _total(counts: dict[str, int]) -> int:
    return sum(counts.values())
