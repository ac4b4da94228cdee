"""R14's rate is the same, whichever of its thirty days are read from daily counts."""

import importlib
from datetime import UTC, datetime, timedelta

import pytest
from django.apps import apps
from django.db.models import Count, Q

from audit.models import CrosscheckLog, DayCount, DivergenceEvent
from audit.variance import Variance, variance
from verdicts.monitoring.daily_stats import roll_up

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)
EDGES = (
    NOW - timedelta(days=30),  # just outside
    NOW - timedelta(days=30) + timedelta(microseconds=1),
    datetime(2026, 4, 20, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 4, 21, tzinfo=UTC),  # the first complete day
    datetime(2026, 5, 18, 23, 59, 59, tzinfo=UTC),
    datetime(2026, 5, 19, tzinfo=UTC),
    datetime(2026, 5, 20, tzinfo=UTC),
    NOW,
)
SPREAD = tuple(NOW - timedelta(days=35, hours=-7 * step) for step in range(120))


def compared(at: datetime, level: str = "none", **changes) -> None:
    check = CrosscheckLog.objects.create(
        session_id="cs_test_variance", kind="regen", tier="full", approved=True, threshold=1.0
    )
    about = {"original_verdict": "GREEN", "regen_verdict": "GREEN", "skipped": False}
    more = {"same_inputs": True, "causes": ["infrastructure"], "latency_ms": 1, "tier": "full"}
    event = DivergenceEvent.objects.create(
        crosscheck=check, level=level, **{**about, **more, **changes}
    )
    DivergenceEvent.objects.filter(pk=event.pk).update(created_at=at)


@pytest.fixture
def history() -> None:
    levels = ("none", "none", "minor", "none", "significant")
    for number, at in enumerate((*EDGES, *SPREAD)):
        compared(at, levels[number % len(levels)])
        compared(at, "minor", same_inputs=False)
        compared(at, "", skipped=True)
        compared(at, "significant", smoke=True)


def by_rows() -> Variance:
    seen = DivergenceEvent.objects.filter(
        same_inputs=True, skipped=False, smoke=False, created_at__gt=NOW - timedelta(days=30)
    )
    diverged = Count("pk", filter=Q(level__in=["minor", "significant"]))
    return Variance(**seen.aggregate(checked=Count("pk"), diverged=diverged))


@pytest.mark.parametrize("counted_until", [None, 40, 12, 2, 1, 0])
def test_the_rate_equals_that_of_the_rows(history, counted_until):
    if counted_until is not None:
        for back in range(40, counted_until - 1, -1):
            roll_up((NOW - timedelta(days=back)).date())
    found = variance(NOW)
    assert found == by_rows()
    assert found.checked > 90
    assert 0 < found.diverged < found.checked


def test_an_incomplete_daily_count_is_not_used(history):
    """The sweep stopped at noon ten days ago."""
    for back in range(40, 9, -1):
        roll_up((NOW - timedelta(days=back)).date())
    compared(NOW - timedelta(days=10, hours=-6), "significant")
    assert variance(NOW) == by_rows()


def test_complete_days_are_read_from_daily_counts(history):
    """Otherwise each comparison would read the rows of thirty days."""
    for back in range(40, -1, -1):
        roll_up((NOW - timedelta(days=back)).date())
    before = variance(NOW)
    whole_days = Q(created_at__lt=NOW - timedelta(days=3), created_at__gt=NOW - timedelta(days=29))
    DivergenceEvent.objects.filter(whole_days).delete()
    assert variance(NOW) == before


def test_the_migration_counts_earlier_comparisons(history):
    migration = importlib.import_module("audit.migrations.0010_as_it_grows")
    migration.count_equal_terms(apps, None)
    counted = DayCount.objects.filter(name=DayCount.EQUAL_TERMS)
    assert counted.count() > 30
    assert variance(NOW) == by_rows()
    migration.count_equal_terms(apps, None)  # idempotent
    assert variance(NOW) == by_rows()
