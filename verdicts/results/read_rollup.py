"""Adds the reads that web processes have counted to orders and daily counts."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from django.db import connection, transaction

from audit.models import DayCount
from verdicts.models import ReadBatch, Verdict

_ADD: Final = "UPDATE verdicts_order SET hits = hits + %s, last_read_at = %s WHERE id = %s"


def add_up(*, most: int) -> int:
    """Add up to `most` batches, oldest first; returns how many reads there were.

    Safe to run concurrently: each batch is added by the process that deletes it.
    """
    return sum(_add_oldest() for _ in range(min(most, ReadBatch.objects.count())))


def _add_oldest() -> int:
    with transaction.atomic():
        batch = ReadBatch.objects.select_for_update(skip_locked=True).order_by("pk").first()
        if batch is None:
            return 0
        batch.delete()
        hits = _add_hits(batch) if batch.verdicts else 0
        for outcome, number in sorted(batch.others.items()):
            DayCount.add(batch.created_at.date(), DayCount.READ, key=outcome, by=number)
    return hits + _total(batch.others)


def _add_hits(batch: ReadBatch) -> int:
    counted = {int(verdict_id): number for verdict_id, number in batch.verdicts.items()}
    by_order: Counter[int] = Counter()
    tested = 0
    shown = Verdict.objects.filter(pk__in=counted)
    for verdict_id, order_id, smoke in shown.values_list("pk", "order_id", "order__smoke"):
        by_order[order_id] += counted[verdict_id]
        tested += counted[verdict_id] if smoke else 0
    at = connection.ops.adapt_datetimefield_value(batch.created_at)
    with connection.cursor() as cursor:
        # Sorted, so that two processes cannot deadlock. One executemany: the ORM would take
        # longer than the reads did.
        cursor.executemany(_ADD, [(number, at, pk) for pk, number in sorted(by_order.items())])
    hits = _total(counted)
    if hits > tested:
        DayCount.add(batch.created_at.date(), DayCount.HIT, by=hits - tested)
    return hits


def _total(counts: Mapping[Any, int]) -> int:
    return sum(counts.values())
