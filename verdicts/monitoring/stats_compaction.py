"""Days that nobody looks at any more, added up: totals stay as quick to read as they were.

What happened is not forgotten, only on which day: a day's orders, checks and
comparisons are still to be counted from their own rows.
"""

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from audit.models import DayCount
from verdicts.monitoring.daily_stats import advisory_lock

KEPT_DAYS: Final = 400  # day by day: more than a year, to be compared with the last


def add_up_old_days() -> int:
    """Put what is older under COMPACTED_DAY; returns how many counts of days that were."""
    first = timezone.now().date() - timedelta(days=KEPT_DAYS)
    old = DayCount.objects.filter(day__lt=first, day__gt=DayCount.COMPACTED_DAY)
    if not old.exists():
        return 0
    with transaction.atomic():
        advisory_lock()
        # Of both at once, so that whoever adds all counts up finds the same sum before and after.
        sums = DayCount.objects.filter(day__lt=first).values_list("name", "tier", "key")
        added = [
            DayCount(day=DayCount.COMPACTED_DAY, name=name, tier=tier, key=key, count=count)
            for name, tier, key, count in sums.annotate(n=Sum("count")).order_by()
        ]
        gone, _ = old.delete()
        DayCount.objects.bulk_create(
            added,
            update_conflicts=True,
            unique_fields=["day", "name", "tier", "key"],
            update_fields=["count"],
        )
    return gone
