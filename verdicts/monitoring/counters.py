"""What has happened since the beginning, as counters: sums over `DayCount`, for all processes.

Every count is of one table of the one database, so processes and hosts are
summed by construction. A counter never falls: closed days no longer change, and
an open day is only ever counted up.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from django.db.models import Sum
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from audit.core.vocabulary import TIERS
from audit.models import KINDS, DayCount, Escalation
from verdicts.core.read_outcomes import READ_OUTCOMES
from verdicts.monitoring.daily_stats import BEYOND, BUCKETS, LATENCIES, Key
from verdicts.reconciliation.discrepancies import KINDS as DISCREPANCIES

TOO_MANY: Final = 429
STEP: Final = 5  # of the roll-up's buckets make one here: a tenth of the score
ANSWERED: Final = "answered"
PASS: Final = "pass"  # noqa: S105 - the gate's word


def totals() -> Iterator[Metric]:
    found = _sums()
    yield _counter("cache_hits", "Answers given from the cache.", [((), found["hit", "", ""])])
    reads = {outcome: found["read", "", outcome] for outcome in READ_OUTCOMES}
    yield _counter(
        "reads",
        "Reads that the cache had no answer for, by what the reader got.",
        [((outcome,), count) for outcome, count in reads.items()],
        "outcome",
    )
    yield _counter(
        "rate_limited",
        "Reads answered 429, by reason.",
        [((name,), reads[name]) for name, row in READ_OUTCOMES.items() if row.status == TOO_MANY],
        "reason",
    )
    yield _counter(
        "regenerations",
        "Regenerations that came to an end, by outcome.",
        [((outcome,), count) for outcome, count in sorted(_regenerations(found).items())],
        "outcome",
    )
    yield from _judgements(found)
    yield from _calls(found)
    emails = {key: count for (name, _, key), count in found.items() if name == DayCount.EMAIL}
    yield _counter(
        "emails",
        "Emails that came to an end, by kind and state.",
        [((*key.split(" "),), count) for key, count in sorted(emails.items())],
        "kind",
        "state",
    )
    yield _counter(
        "log_write_failures",
        "Attempts to write oracle_log.jsonl that failed.",
        [((), found[DayCount.LOG_FAILURE, "", ""])],
    )
    yield _counter(
        "gaps_mended",
        "Gaps that reconciling has mended, by kind.",
        [((kind,), found[DayCount.DISCREPANCY, "", kind]) for kind in DISCREPANCIES],
        "gap",
    )
    yield _counter(
        "reconcile_failures",
        "Hourly looks at Stripe's books that did not come to their end.",
        [((), found[DayCount.UNRECONCILED, "", ""])],
    )
    yield _counter(
        "escalations",
        "Days on which the model's own variance was above the line.",
        [((), Escalation.objects.count())],
    )


def _sums() -> Counter[Key]:
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


def _judgements(found: Counter[Key]) -> Iterator[Metric]:
    yield _counter(
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
        "oracle_coherence_score", "Scores that the gate gave.", labels=["tier"]
    )
    for tier in TIERS:
        scores.add_metric([tier], _score_buckets(found, tier), None)
    yield scores
    for metric, name, label, about in (
        (
            "divergences",
            "divergence",
            "level",
            "Comparisons of a regeneration with what was emailed, by level.",
        ),
        ("causes", "cause", "cause", "What can explain a divergence, by cause."),
    ):
        yield _counter(
            metric,
            about,
            [((tier, key), n) for (its, tier, key), n in sorted(found.items()) if its == name],
            "tier",
            label,
        )


def _score_buckets(found: Counter[Key], tier: str) -> list[tuple[str, float]]:
    """Cumulative, as the format wants it; the first holds what lies below zero."""
    buckets = []
    total = found["score", tier, "-1"]
    buckets.append(("0.0", float(total)))
    for place in range(BUCKETS):
        total += found["score", tier, str(place)]
        if place % STEP == STEP - 1:
            buckets.append((str((place + 1) / BUCKETS), float(total)))
    total += found["score", tier, str(BUCKETS)]
    return [*buckets, ("+Inf", float(total))]


def _calls(found: Counter[Key]) -> Iterator[Metric]:
    yield _counter(
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
    took = HistogramMetricFamily(
        "oracle_model_call_seconds", "How long calls to the model took.", labels=["kind", "tier"]
    )
    for kind, _ in KINDS:
        for tier in TIERS:
            seconds = found[f"{kind} ms", tier, ""] / 1000
            took.add_metric([kind, tier], _latency_buckets(found, kind, tier), seconds)
    yield took
    yield _counter(
        "model_tokens",
        "Tokens that calls to the model used.",
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
    for most in LATENCIES:
        total += found[f"{kind} latency", tier, str(most)]
        buckets.append((str(most / 1000), float(total)))
    return [*buckets, ("+Inf", float(total + found[f"{kind} latency", tier, BEYOND]))]


def _counter(
    name: str, about: str, samples: Sequence[tuple[tuple[str, ...], int]], *labels: str
) -> Metric:
    family = CounterMetricFamily(f"oracle_{name}", about, labels=labels)
    for values, count in samples:
        family.add_metric(values, count)
    return family
