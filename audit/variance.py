"""R14: how often the model contradicts itself on equal inputs, and when that is too often."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal, NamedTuple

from django.db.models import Count, Q

from audit.core.record import escalation_entry
from audit.core.wilson import Interval, wilson
from audit.log import log
from audit.models import DayCount, DivergenceEvent, Escalation

DAYS: Final = 30
ALERT_RATE: Final = 0.05
DIVERGED: Final = ("minor", "significant")
MIN_CHECKED: Final = 20

# "at or below": the rate is not above ALERT_RATE, but its interval reaches above it.
Assessment = Literal["too few", "below", "at or below", "above"]


class Variance(NamedTuple):
    """Divergences among regenerations with the original's prompt, config and model."""

    checked: int
    diverged: int

    @property
    def rate(self) -> float:
        return self.diverged / self.checked if self.checked else 0.0

    @property
    def interval(self) -> Interval:
        return wilson(self.diverged, self.checked)

    @property
    def assessment(self) -> Assessment:
        """The rate compared with ALERT_RATE."""
        if self.checked < MIN_CHECKED:
            return "too few"
        if self.is_too_high:
            return "above"
        return "at or below" if self.interval.high > ALERT_RATE else "below"

    @property
    def is_too_high(self) -> bool:
        return self.checked >= MIN_CHECKED and self.rate > ALERT_RATE


def variance(now: datetime) -> Variance:
    """Of the last thirty days: daily counts for complete days, rows for the rest."""
    since, yesterday = now - timedelta(days=DAYS), now.date() - timedelta(days=1)
    first = since.date() + timedelta(days=1)  # the first complete day
    days = [first + timedelta(days=number) for number in range(DAYS - 1)]
    counts = DayCount.objects.filter(name=DayCount.EQUAL_TERMS, day__in=days)
    counted = list(counts.values_list("day", "key", "count"))
    # A day is complete if a later day was counted, too. Yesterday may still be incomplete.
    open_from = min(max((day for day, _, _ in counted), default=first), yesterday)
    complete = [(level, count) for day, level, count in counted if day < open_from]
    parts = (
        Variance(sum(n for _, n in complete), sum(n for level, n in complete if level in DIVERGED)),
        _count_rows(Q(created_at__gt=since, created_at__lt=_start_of(first))),
        _count_rows(Q(created_at__gte=_start_of(open_from))),
    )
    return Variance(sum(one.checked for one in parts), sum(one.diverged for one in parts))


def _count_rows(period: Q) -> Variance:
    on_equal_terms = DivergenceEvent.objects.filter(same_inputs=True, skipped=False, smoke=False)
    # An index-only scan. Not grouped by level: SQLite would then scan the whole index of levels to
    # avoid sorting.
    diverged = Count("level", filter=Q(level__in=DIVERGED))
    return Variance(
        **on_equal_terms.filter(period).aggregate(checked=Count("*"), diverged=diverged)
    )


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def escalate(now: datetime) -> Escalation | None:
    """Record that the rate is too high, once a day. None if it is not, or is already recorded.

    Call it in the transaction that queues the alert, so that both commit or neither.
    """
    found = variance(now)
    if not found.is_too_high:
        return None
    escalation, created = Escalation.objects.get_or_create(
        day=now.date(),
        defaults={
            "checked": found.checked,
            "diverged": found.diverged,
            "low": found.interval.low,
            "high": found.interval.high,
        },
    )
    if not created:
        return None
    log.append(
        escalation_entry(
            checked=found.checked,
            diverged=found.diverged,
            rate=found.rate,
            interval=found.interval,
            days=DAYS,
            at=now,
        )
    )
    return escalation
