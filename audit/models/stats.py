"""Daily counts."""

from datetime import date

from django.db import models


class DayCount(models.Model):
    """How often something happened on one day, pre-aggregated for the console's statistics.

    Rolled up from other tables (`verdicts.monitoring.daily_stats`), except LIVE_COUNTS,
    which are incremented as events happen, because no table records them. Old days are
    summed up under COMPACTED_DAY (`verdicts.monitoring.stats_compaction`).
    """

    COMPACTED_DAY = date(2000, 1, 1)

    HIT = "hit"
    READ = "read"  # a cache miss, by outcome
    LOG_FAILURE = "log failure"
    EMAIL = "email"  # an email with a final state, by kind and state
    DISCREPANCY = "gap"  # repaired by `reconcile`, by kind
    UNRECONCILED = "unreconciled"  # an hourly reconciliation that did not finish
    DISCREPANCIES_LEFT = "gaps left"  # at the day's last reconciliation: for staff, without a case
    EQUAL_TERMS = "equal terms"  # what R14's rate counts, by level (`audit.variance`)
    LIVE_COUNTS = (HIT, READ, LOG_FAILURE, EMAIL, DISCREPANCY, UNRECONCILED, DISCREPANCIES_LEFT)

    day = models.DateField()
    name = models.CharField(max_length=20)
    tier = models.CharField(max_length=8, blank=True)
    key = models.CharField(max_length=30, blank=True)
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["day", "name", "tier", "key"], name="one_count_a_day"),
        )

    def __str__(self) -> str:
        return f"{self.day} {self.name} {self.tier} {self.key}: {self.count}"

    @classmethod
    def add(cls, day: date, name: str, *, key: str = "", by: int = 1) -> None:
        """Increment one of LIVE_COUNTS."""
        row, _ = cls.objects.get_or_create(
            day=day, name=name, tier="", key=key, defaults={"count": 0}
        )
        cls.objects.filter(pk=row.pk).update(count=models.F("count") + by)

    @classmethod
    def set_count(cls, day: date, name: str, count: int) -> None:
        """Replace one of LIVE_COUNTS by the current number."""
        cls.objects.update_or_create(day=day, name=name, tier="", key="", defaults={"count": count})
