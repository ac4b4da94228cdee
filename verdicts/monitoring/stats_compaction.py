"""Compaction of old daily counts: their sums are kept, the single days are not.

So totals stay fast to read. Orders, crosschecks and comparisons of a compacted day can still be
counted from their own rows.
"""

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from audit.models import DayCount
from verdicts.monitoring.daily_stats import advisory_lock

RETENTION_DAYS: Final = 400  # more than a year, to compare with the year before


def compact_old_days() -> int:
    """Add older counts to those of COMPACTED_DAY; returns how many counts were compacted."""
    first = timezone.now().date() - timedelta(days=RETENTION_DAYS)
    old = DayCount.objects.filter(day__lt=first, day__gt=DayCount.COMPACTED_DAY)
    if not old.exists():
        return 0
    with transaction.atomic():
        advisory_lock()
        # In one transaction, so that a sum over all days never changes.
        sums = DayCount.objects.filter(day__lt=first).values_list("name", "tier", "key")
        compacted = [
            DayCount(day=DayCount.COMPACTED_DAY, name=name, tier=tier, key=key, count=count)
            for name, tier, key, count in sums.annotate(n=Sum("count")).order_by()
        ]
        deleted, _ = old.delete()
        DayCount.objects.bulk_create(
            compacted,
            update_conflicts=True,
            unique_fields=["day", "name", "tier", "key"],
            update_fields=["count"],
        )
    return deleted
