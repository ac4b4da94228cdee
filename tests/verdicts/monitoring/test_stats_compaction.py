from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import DayCount
from verdicts.monitoring.counters import collect_counters
from verdicts.monitoring.daily_stats import load_daily_stats
from verdicts.monitoring.stats_compaction import RETENTION_DAYS, compact_old_days
from verdicts.reconciliation.sweep import sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def today():
    return timezone.now().date()


@pytest.fixture
def old_and_recent_days(today) -> None:
    """Counts of ten days on either side of the retention limit."""
    for back in range(RETENTION_DAYS - 9, RETENTION_DAYS + 11):
        day = today - timedelta(days=back)
        DayCount.objects.create(day=day, name="hit", count=back)
        DayCount.objects.create(day=day, name="order", tier="full", key="delivered", count=1)
    DayCount.objects.create(day=today, name="hit", count=7)


def total_hits() -> float:
    (sample,) = next(
        family for family in collect_counters() if family.name == "oracle_cache_hits"
    ).samples
    return sample.value


def test_compaction_changes_no_counter(old_and_recent_days):
    before = total_hits()
    assert compact_old_days() == 20
    assert total_hits() == before
    assert DayCount.objects.count() == 21 + 2


def test_a_repeated_compaction_adds_only_newly_old_days(old_and_recent_days, today):
    compact_old_days()
    assert compact_old_days() == 0
    DayCount.objects.create(day=today - timedelta(days=RETENTION_DAYS + 1), name="hit", count=5)
    before = total_hits()
    assert compact_old_days() == 1
    assert total_hits() == before
    assert DayCount.objects.filter(day=DayCount.COMPACTED_DAY).count() == 2


def test_recent_days_are_kept(old_and_recent_days, today):
    before = Counter(load_daily_stats(90).total)
    compact_old_days()
    assert load_daily_stats(90).total == before
    kept = DayCount.objects.exclude(day=DayCount.COMPACTED_DAY).order_by("day").first()
    assert kept.day == today - timedelta(days=RETENTION_DAYS)


def test_the_sweep_compacts(old_and_recent_days):
    sweep()
    assert DayCount.objects.filter(day=DayCount.COMPACTED_DAY).exists()
