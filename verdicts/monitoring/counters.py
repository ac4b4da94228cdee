"""Counters: totals over all days of `DayCount`, for all processes and hosts together.

A counter never falls: closed days no longer change, and the counts of an open day only grow.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from django.db.models import Sum
from prometheus_client.core import HistogramMetricFamily, Metric

from audit.core.vocabulary import TIERS
from audit.models import KINDS, DayCount, Escalation
from verdicts.core.read_outcomes import READ_OUTCOMES
from verdicts.monitoring.daily_stats import (
    LATENCY_BUCKETS,
    OVERFLOW_BUCKET,
    SCORE_BUCKETS,
    Key,
)
from verdicts.monitoring.metric_families import counter
from verdicts.reconciliation.discrepancies import KINDS as DISCREPANCY_KINDS

TOO_MANY_REQUESTS: Final = 429
BUCKETS_PER_TENTH: Final = SCORE_BUCKETS // 10
ANSWERED: Final = "answered"
PASS: Final = "pass"  # noqa: S105 - the gate's reason, not a password


def collect_counters() -> Iterator[Metric]:
    found = _totals()
    yield counter("cache_hits", "Reads answered from the cache.", [((), found["hit", "", ""])])
    reads = {outcome: found["read", "", outcome] for outcome in READ_OUTCOMES}
    yield counter(
        "reads",
        "Reads not answered from the cache, by outcome.",
        [((outcome,), count) for outcome, count in reads.items()],
        "outcome",
    )
    yield counter(
        "rate_limited",
        "Reads answered 429, by reason.",
        [
            ((name,), reads[name])
            for name, row in READ_OUTCOMES.items()
            if row.status == TOO_MANY_REQUESTS
        ],
        "reason",
    )
    yield counter(
        "regenerations",
        "Finished regenerations, by outcome.",
        [((outcome,), count) for outcome, count in sorted(_regenerations(found).items())],
        "outcome",
    )
    yield from _crosschecks(found)
    yield from _calls(found)
    emails = {key: count for (name, _, key), count in found.items() if name == DayCount.EMAIL}
    yield counter(
        "emails",
        "Finished emails, by kind and final state.",
        [((*key.split(" "),), count) for key, count in sorted(emails.items())],
        "kind",
        "state",
    )
    yield counter(
        "log_write_failures",
        "Failed writes to oracle_log.jsonl.",
        [((), found[DayCount.LOG_FAILURE, "", ""])],
    )
    yield counter(
        "discrepancies_repaired",
        "Discrepancies repaired by reconciliation, by kind.",
        [((kind,), found[DayCount.DISCREPANCY, "", kind]) for kind in DISCREPANCY_KINDS],
        "kind",
    )
    yield counter(
        "reconcile_failures",
        "Hourly reconciliations that did not complete.",
        [((), found[DayCount.UNRECONCILED, "", ""])],
    )
    yield counter(
        "escalations",
        "Days on which the variance rate was above its limit.",
        [((), Escalation.objects.count())],
    )


def _totals() -> Counter[Key]:
    rows = DayCount.objects.order_by().values_list("name", "tier", "key").annotate(n=Sum("count"))
    return Counter({(name, tier, key): count for name, tier, key, count in rows})


def _regenerations(found: Counter[Key]) -> Counter[str]:
    counted: Counter[str] = Counter(approved=0, rejected=0)
    for (name, _, key), count in found.items():
        if name == "regen":
            counted["approved" if key == PASS else "rejected"] += count
        elif name == "regen call" and key != ANSWERED:
            counted[key] += count
    return counted


def _crosschecks(found: Counter[Key]) -> Iterator[Metric]:
    yield counter(
        "crosschecks",
        "Decisions of the gate, by reason.",
        [
            ((name, tier, key), count)
            for (name, tier, key), count in sorted(found.items())
            if name in dict(KINDS)
        ],
        "kind",
        "tier",
        "reason",
    )
    scores = HistogramMetricFamily(
        "oracle_coherence_score", "Coherence scores of the gate.", labels=["tier"]
    )
    for tier in TIERS:
        scores.add_metric([tier], _score_buckets(found, tier), None)
    yield scores
    for metric, name, label, documentation in (
        (
            "divergences",
            "divergence",
            "level",
            "Comparisons of regenerations with the emailed verdict, by level.",
        ),
        ("causes", "cause", "cause", "Possible causes of divergences, by cause."),
    ):
        yield counter(
            metric,
            documentation,
            [
                ((tier, key), count)
                for (counted, tier, key), count in sorted(found.items())
                if counted == name
            ],
            "tier",
            label,
        )


def _score_buckets(found: Counter[Key], tier: str) -> list[tuple[str, float]]:
    """Cumulative, as the format requires; the first bucket holds scores below zero."""
    buckets = []
    total = found["score", tier, "-1"]
    buckets.append(("0.0", float(total)))
    for place in range(SCORE_BUCKETS):
        total += found["score", tier, str(place)]
        if (place + 1) % BUCKETS_PER_TENTH == 0:
            buckets.append((str((place + 1) / SCORE_BUCKETS), float(total)))
    total += found["score", tier, str(SCORE_BUCKETS)]
    return [*buckets, ("+Inf", float(total))]


def _calls(found: Counter[Key]) -> Iterator[Metric]:
    yield counter(
        "model_calls",
        "Calls to the model, by outcome.",
        [
            ((name.removesuffix(" call"), tier, key), count)
            for (name, tier, key), count in sorted(found.items())
            if name.endswith(" call")
        ],
        "kind",
        "tier",
        "outcome",
    )
    durations = HistogramMetricFamily(
        "oracle_model_call_seconds", "Duration of calls to the model.", labels=["kind", "tier"]
    )
    for kind, _ in KINDS:
        for tier in TIERS:
            seconds = found[f"{kind} ms", tier, ""] / 1000
            durations.add_metric([kind, tier], _latency_buckets(found, kind, tier), seconds)
    yield durations
    yield counter(
        "model_tokens",
        "Tokens used by calls to the model.",
        [
            ((tier, direction), found["tokens", tier, direction])
            for tier in TIERS
            for direction in ("prompt", "output")
        ],
        "tier",
        "direction",
    )


def _latency_buckets(found: Counter[Key], kind: str, tier: str) -> list[tuple[str, float]]:
    total, buckets = 0, []
    for bound in LATENCY_BUCKETS:
        total += found[f"{kind} latency", tier, str(bound)]
        buckets.append((str(bound / 1000), float(total)))
    return [*buckets, ("+Inf", float(total + found[f"{kind} latency", tier, OVERFLOW_BUCKET]))]
