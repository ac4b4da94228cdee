"""How often the model contradicts itself on equal terms: R14's rate, and when it is too high."""

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

# "at or below": the rate is not above the line, but its interval is not clear of it.
Standing = Literal["too few", "below", "at or below", "above"]


class Variance(NamedTuple):
    """Divergences among the regenerations whose prompt, config and model were the original's."""

    checked: int
    diverged: int

    @property
    def rate(self) -> float:
        return self.diverged / self.checked if self.checked else 0.0

    @property
    def interval(self) -> Interval:
        return wilson(self.diverged, self.checked)

    @property
    def standing(self) -> Standing:
        """Beside the line, as far as so few can tell."""
        if self.checked < MIN_CHECKED:
            return "too few"
        if self.is_too_high:
            return "above"
        return "at or below" if self.interval.high > ALERT_RATE else "below"

    @property
    def is_too_high(self) -> bool:
        return self.checked >= MIN_CHECKED and self.rate > ALERT_RATE


def variance(now: datetime) -> Variance:
    """Of the last thirty days: days that are over as they were counted, the rest by its rows."""
    since, yesterday = now - timedelta(days=DAYS), now.date() - timedelta(days=1)
    first = since.date() + timedelta(days=1)  # the first that is in it whole
    days = [first + timedelta(days=number) for number in range(DAYS - 1)]
    counts = DayCount.objects.filter(name=DayCount.EQUAL_TERMS, day__in=days)
    counted = list(counts.values_list("day", "key", "count"))
    # A day after which another was counted was counted to its end; not so yesterday, perhaps.
    open_from = min(max((day for day, _, _ in counted), default=first), yesterday)
    over = [(level, count) for day, level, count in counted if day < open_from]
    parts = (
        Variance(sum(n for _, n in over), sum(n for level, n in over if level in DIVERGED)),
        _by_rows(Q(created_at__gt=since, created_at__lt=_begin(first))),
        _by_rows(Q(created_at__gte=_begin(open_from))),
    )
    return Variance(sum(one.checked for one in parts), sum(one.diverged for one in parts))


def _by_rows(within: Q) -> Variance:
    on_equal_terms = DivergenceEvent.objects.filter(same_inputs=True, skipped=False, smoke=False)
    # By one index, and no rows. Not grouped by level: SQLite would read a whole index of levels
    # then, to spare itself the sorting.
    diverged = Count("level", filter=Q(level__in=DIVERGED))
    return Variance(
        **on_equal_terms.filter(within).aggregate(checked=Count("*"), diverged=diverged)
    )


def _begin(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def escalate(now: datetime) -> Escalation | None:
    """Put it on record that the rate is too high, once a day; None: it is not, or it is already.

    In the caller's transaction, so that whoever is told is told exactly then.
    """
    found = variance(now)
    if not found.is_too_high:
        return None
    escalation, new = Escalation.objects.get_or_create(
        day=now.date(),
        defaults={
            "checked": found.checked,
            "diverged": found.diverged,
            "low": found.interval.low,
            "high": found.interval.high,
        },
    )
    if not new:
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
