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
def past(today) -> None:
    """Ten days of counts on either side of the line."""
    for back in range(RETENTION_DAYS - 9, RETENTION_DAYS + 11):
        day = today - timedelta(days=back)
        DayCount.objects.create(day=day, name="hit", count=back)
        DayCount.objects.create(day=day, name="order", tier="full", key="delivered", count=1)
    DayCount.objects.create(day=today, name="hit", count=7)


def hits_ever() -> float:
    (sample,) = next(one for one in collect_counters() if one.name == "oracle_cache_hits").samples
    return sample.value


def test_no_counter_changes(past):
    before = hits_ever()
    assert compact_old_days() == 20
    assert hits_ever() == before
    assert DayCount.objects.count() == 21 + 2


def test_to_add_up_again_changes_nothing_but_what_has_grown_old(past, today):
    compact_old_days()
    assert compact_old_days() == 0
    DayCount.objects.create(day=today - timedelta(days=RETENTION_DAYS + 1), name="hit", count=5)
    before = hits_ever()
    assert compact_old_days() == 1
    assert hits_ever() == before
    assert DayCount.objects.filter(day=DayCount.LONG_AGO).count() == 2


def test_the_days_that_are_looked_at_stay_as_they_were(past, today):
    before = Counter(load_daily_stats(90).total)
    compact_old_days()
    assert load_daily_stats(90).total == before
    kept = DayCount.objects.exclude(day=DayCount.LONG_AGO).order_by("day").first()
    assert kept.day == today - timedelta(days=RETENTION_DAYS)


def test_the_sweep_does_it(past):
    sweep()
    assert DayCount.objects.filter(day=DayCount.LONG_AGO).exists()
