"""Daily counts."""

from datetime import date

from django.db import models


class DayCount(models.Model):
    """How often something happened on one day: the console's figures, ready to be added up.

    Rolled up from the rows themselves (`verdicts.monitoring.daily_stats`), except for
    what is counted as it happens, which nothing else keeps. Days that nobody looks
    at any more are added up under LONG_AGO (`verdicts.monitoring.stats_compaction`).
    """

    LONG_AGO = date(2000, 1, 1)

    HIT = "hit"
    READ = "read"  # whatever was not in the cache, by what the reader got
    LOG_FAILURE = "log failure"
    EMAIL = "email"  # an end that one came to: its kind and its state
    DISCREPANCY = "gap"  # one that `reconcile` has mended, by its kind
    UNRECONCILED = "unreconciled"  # an hourly look that did not come to its end
    DISCREPANCIES_LEFT = "gaps left"  # by the day's last look: for a person, and without a case
    EQUAL_TERMS = "equal terms"  # what R14's rate counts, by level (`audit.variance`)
    AS_IT_HAPPENS = (HIT, READ, LOG_FAILURE, EMAIL, DISCREPANCY, UNRECONCILED, DISCREPANCIES_LEFT)

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
        """Count it as it happens: one of `AS_IT_HAPPENS`."""
        row, _ = cls.objects.get_or_create(
            day=day, name=name, tier="", key=key, defaults={"count": 0}
        )
        cls.objects.filter(pk=row.pk).update(count=models.F("count") + by)

    @classmethod
    def put(cls, day: date, name: str, count: int) -> None:
        """How many there are now, instead of what was said before: also `AS_IT_HAPPENS`."""
        cls.objects.update_or_create(day=day, name=name, tier="", key="", defaults={"count": count})
