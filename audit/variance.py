"""How often the model contradicts itself on equal terms: R14's rate, and when it is too high."""

from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from django.db.models import Count, Q

from audit import log
from audit.core.record import escalation_entry
from audit.core.wilson import Interval, wilson
from audit.models import DivergenceEvent, Escalation

DAYS: Final = 30
LINE: Final = 0.05
FEWEST: Final = 20

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
        if self.checked < FEWEST:
            return "too few"
        if self.is_too_high:
            return "above"
        return "at or below" if self.interval.high > LINE else "below"

    @property
    def is_too_high(self) -> bool:
        return self.checked >= FEWEST and self.rate > LINE


def variance(now: datetime) -> Variance:
    """Of the last thirty days."""
    since = now - timedelta(days=DAYS)
    on_equal_terms = DivergenceEvent.objects.filter(same_inputs=True, skipped=False, smoke=False)
    seen = on_equal_terms.filter(created_at__gt=since)
    diverged = Count("pk", filter=Q(level__in=["minor", "significant"]))
    return Variance(**seen.aggregate(checked=Count("pk"), diverged=diverged))


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
