"""Daily statistics: rolled up from the rows into one count per day, name, tier and key.

The sweep rolls up the days that can still change, so reading 90 days takes a few thousand small
rows, however many orders there are. Smoke tests are not counted.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import Case, Count, F, IntegerField, Max, Q, Sum, Value, When
from django.db.models.functions import Cast, Floor
from django.utils import timezone

from audit.models import CrosscheckLog, DayCount, DivergenceEvent, ModelCall
from audit.variance import DIVERGED, Variance, variance
from verdicts.models import Order

Key = tuple[str, str, str]  # name, tier, key

SCORE_BUCKETS: Final = 50  # of the score, from 0 to 1
MAX_DAYS: Final = 90  # the longest period that the console shows
# Upper bounds in milliseconds; slower calls are counted in OVERFLOW_BUCKET.
LATENCY_BUCKETS: Final = (250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000)
OVERFLOW_BUCKET: Final = "beyond"
ADVISORY_LOCK_ID: Final = 0x07AC1E  # any number that is used for no other advisory lock
CHARTED: Final = ("order", "hit", "regen call", "divergence")  # the series of the console's charts


@dataclass(frozen=True, slots=True)
class DailyStats:
    """Totals of a period, and the same per day for charts."""

    days: list[date]
    total: Counter[Key]
    daily: dict[date, Counter[Key]]  # of the names in CHARTED
    variance: Variance  # always of the last 30 days (R14)

    def sum(self, name: str, *, tier: str = "", key: str = "") -> int:
        """The count for one tier and key, or for all of them if empty."""
        return sum(
            count
            for (its_name, its_tier, its_key), count in self.total.items()
            if its_name == name and tier in ("", its_tier) and key in ("", its_key)
        )

    def series(self, name: str, *, tier: str = "", key: str = "") -> list[int]:
        """`sum` for each day, oldest first."""
        return [
            sum(
                count
                for (its_name, its_tier, its_key), count in self.daily[day].items()
                if its_name == name and tier in ("", its_tier) and key in ("", its_key)
            )
            for day in self.days
        ]

    def by_key(self, name: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for (its_name, _, its_key), count in self.total.items():
            if its_name == name:
                found[its_key] += count
        return found


def load_daily_stats(days: int) -> DailyStats:
    """Of the last `days` days, today included."""
    now = timezone.now()
    listed = [now.date() - timedelta(days=back) for back in range(days - 1, -1, -1)]
    counts = DayCount.objects.filter(day__gte=listed[0], day__lte=listed[-1])
    sums = counts.values_list("name", "tier", "key").annotate(n=Sum("count"))
    total = Counter({(name, tier, key): count for name, tier, key, count in sums})
    daily: dict[date, Counter[Key]] = {day: Counter() for day in listed}
    charted = counts.filter(name__in=CHARTED)
    for day, name, tier, key, count in charted.values_list("day", "name", "tier", "key", "count"):
        daily[day][name, tier, key] = count
    return DailyStats(listed, total, daily, variance(now))


def roll_up(day: date) -> int:
    """Replace the day's counts by counting its rows; returns how many there are. Idempotent."""
    counted = Counter[Key]()
    with transaction.atomic():
        advisory_lock()
        for key, count in _counts(day):
            counted[key] += count
        DayCount.objects.filter(day=day).exclude(name__in=DayCount.LIVE_COUNTS).delete()
        DayCount.objects.bulk_create(
            [
                DayCount(day=day, name=name, tier=tier, key=key, count=count)
                for (name, tier, key), count in sorted(counted.items())
            ],
            update_conflicts=True,
            unique_fields=["day", "name", "tier", "key"],
            update_fields=["count"],
        )
    return len(counted)


def advisory_lock() -> None:
    """Serialize roll-ups until the transaction ends, so that an older count never wins.

    SQLite serializes writing transactions by itself (`oracle_site.env`).
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADVISORY_LOCK_ID])


def roll_up_open_days() -> int:
    """Roll up every day from the last one counted, which may not have been over then."""
    today = timezone.now().date()
    rolled = DayCount.objects.exclude(name__in=DayCount.LIVE_COUNTS)
    counted = rolled.aggregate(last=Max("day"))["last"]
    first = counted or _first_day() or today
    # A day can change for an hour after its end: generations that were still running.
    first = min(first, (timezone.now() - timedelta(hours=1)).date())
    days = min((today - first).days, MAX_DAYS)
    return sum(roll_up(today - timedelta(days=back)) for back in range(days, -1, -1))


def _first_day() -> date | None:
    first = Order.objects.filter(paid_at__isnull=False).order_by("paid_at").first()
    return first.paid_at.date() if first and first.paid_at else None


def _counts(day: date) -> Iterator[tuple[Key, int]]:
    begin = datetime.combine(day, time.min, tzinfo=UTC)
    end = begin + timedelta(days=1)
    yield from _orders(Q(paid_at__gte=begin, paid_at__lt=end, smoke=False))
    within = Q(created_at__gte=begin, created_at__lt=end, smoke=False)
    yield from _crosschecks(within)
    yield from _calls(within)
    yield from _costs(within)
    yield from _divergences(within)


def _orders(within: Q) -> Iterator[tuple[Key, int]]:
    paid = Order.objects.filter(within)
    for tier, status, count in paid.values_list("tier", "status").annotate(n=Count("pk")):
        yield ("order", tier, status), count
    for tier, cents in paid.values_list("tier").annotate(n=Sum("price_cents")):
        yield ("cents", tier, ""), cents or 0


def _crosschecks(within: Q) -> Iterator[tuple[Key, int]]:
    checks = CrosscheckLog.objects.filter(within)
    reasons = checks.values_list("tier", "kind", "crosscheck_reason").annotate(n=Count("pk"))
    for tier, kind, reason, count in reasons:
        yield (kind, tier, reason), count
    bucket = Cast(Floor(F("coherence_score") * SCORE_BUCKETS), IntegerField())
    scored = checks.filter(coherence_score__isnull=False).annotate(bucket=bucket)
    for tier, place, count in scored.values_list("tier", "bucket").annotate(n=Count("pk")):
        yield ("score", tier, str(max(-1, min(place, SCORE_BUCKETS)))), count
    for tier, flags in checks.exclude(flags=[]).values_list("tier", "flags").iterator():
        for flag in flags:
            yield ("flag", tier, flag), 1


def _calls(within: Q) -> Iterator[tuple[Key, int]]:
    calls = ModelCall.objects.filter(within)
    for tier, kind, outcome, count in calls.values_list("tier", "kind", "outcome").annotate(
        n=Count("pk")
    ):
        yield (f"{kind} call", tier, outcome), count


def _costs(within: Q) -> Iterator[tuple[Key, int]]:
    """Durations and tokens of the model calls."""
    calls = ModelCall.objects.filter(within)
    bounds = [When(duration_ms__lte=most, then=Value(str(most))) for most in LATENCY_BUCKETS]
    bucketed = calls.annotate(bucket=Case(*bounds, default=Value(OVERFLOW_BUCKET)))
    sums = bucketed.values_list("kind", "tier", "bucket").annotate(
        n=Count("pk"),
        ms=Sum("duration_ms"),
        prompt=Sum("prompt_tokens"),
        output=Sum("output_tokens"),
    )
    for kind, tier, bucket, count, ms, prompt, output in sums:
        yield (f"{kind} latency", tier, bucket), count
        yield (f"{kind} ms", tier, ""), ms
        yield ("tokens", tier, "prompt"), prompt
        yield ("tokens", tier, "output"), output


def _divergences(within: Q) -> Iterator[tuple[Key, int]]:
    events = DivergenceEvent.objects.filter(within)
    for tier, level, count in events.values_list("tier", "level").annotate(n=Count("pk")):
        yield ("divergence", tier, level or "skipped"), count
    equal = events.filter(same_inputs=True, skipped=False)
    for level, count in equal.values_list("level").annotate(n=Count("pk")):
        yield (DayCount.EQUAL_TERMS, "", level), count
    diverged = events.filter(level__in=DIVERGED)
    for tier, causes in diverged.values_list("tier", "causes").iterator():
        for cause in causes:
            yield ("cause", tier, cause), 1
