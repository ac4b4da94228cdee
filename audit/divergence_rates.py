"""How often regenerations differ from the emailed verdict: by tier, level and cause."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count

from audit.core.vocabulary import TIERS
from audit.models import DivergenceEvent, Escalation
from audit.variance import DIVERGED, Variance


@dataclass(slots=True)
class Rates:
    """Counts of one tier, or of all. A divergence with two causes counts for both."""

    tier: str
    levels: Counter[str] = field(default_factory=Counter)  # none, minor, significant, skipped
    causes: Counter[str] = field(default_factory=Counter)
    checked: int = 0  # same prompt, config and model: only these count for R14's rate
    diverged: int = 0

    @property
    def compared(self) -> int:
        return self.levels.total() - self.levels["skipped"]

    @property
    def variance(self) -> Variance:
        return Variance(self.checked, self.diverged)

    def add(self, group: dict[str, Any]) -> None:
        count, level = group["count"], group["level"]
        self.levels["skipped" if group["skipped"] else level] += count
        if group["skipped"]:
            return
        if level in DIVERGED:
            self.causes.update(dict.fromkeys(group["causes"], count))
        if group["same_inputs"]:
            self.checked += count
            self.diverged += count if level in DIVERGED else 0


@dataclass(frozen=True, slots=True)
class Divergences:
    since: datetime
    until: datetime
    tiers: list[Rates]
    total: Rates
    escalations: list[Escalation]


def divergence_rates(*, days: int, tier: str, now: datetime) -> Divergences:
    """Counts of the last `days` up to `now`; of all tiers if `tier` is empty."""
    since = now - timedelta(days=days)
    events = DivergenceEvent.objects.filter(created_at__gt=since, created_at__lte=now, smoke=False)
    if tier:
        events = events.filter(tier=tier)
    # There are few distinct sets of causes, so that the database can group by them.
    groups = events.order_by().values("tier", "level", "skipped", "same_inputs", "causes")
    counted: list[dict[str, Any]] = [{**one} for one in groups.annotate(count=Count("*"))]
    return Divergences(
        since=since,
        until=now,
        tiers=[
            _sum(name, (one for one in counted if one["tier"] == name))
            for name in ([tier] if tier else TIERS)
        ],
        total=_sum("all", counted),
        escalations=list(Escalation.objects.filter(created_at__gt=since).order_by("day")),
    )


def _sum(tier: str, groups: Iterable[dict[str, Any]]) -> Rates:
    rates = Rates(tier)
    for group in groups:
        rates.add(group)
    return rates
