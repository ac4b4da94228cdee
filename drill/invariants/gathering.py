"""The facts of a drilled site, gathered from its database and its log."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.db.models import CharField, JSONField, Model, QuerySet, Sum, TextField
from django.db.models.functions import Cast
from django_q.models import OrmQ, Schedule, Task

from audit.core import chain
from audit.log import reader
from audit.log.file import beside
from audit.log.verify import verify_log
from audit.models import Action, CrosscheckLog, DivergenceEvent, LogEntry, ModelCall
from drill.invariants.facts import LogFacts, number_in
from verdicts.core.response_body import render
from verdicts.models import (
    CachedVerdict,
    Case,
    Delivery,
    Order,
    Status,
    StripeEvent,
    Verdict,
)
from verdicts.results import cache

# Which rows have a line in the log each, and what both say alike.
LINES: Final[dict[str, tuple[type[Model], tuple[str, ...]]]] = {
    "tmm_crosscheck": (
        CrosscheckLog,
        ("session_id", "kind", "verdict_label", "approved", "crosscheck_reason"),
    ),
    "regen_divergence_check": (
        DivergenceEvent,
        ("session_id", "original_verdict", "regen_verdict"),
    ),
    "staff_action": (Action, ("session_id", "action", "who", "reason")),
}
# The one place where a rejected text may be (C15).
QUARANTINE: Final = (CrosscheckLog, "evidence")


def waiting() -> dict[str, int]:
    """What is not done with, by kind."""
    unfinished = (Status.PAID, Status.GENERATING)
    owed = (Delivery.State.PENDING, Delivery.State.SENDING)
    return {
        "orders": Order.objects.filter(status__in=unfinished).count(),
        "emails": Delivery.objects.filter(state__in=owed).count(),
        "comparisons": Verdict.objects.filter(compare_due_at__isnull=False).count(),
        "events": StripeEvent.objects.filter(processed_at=None).count(),
        "log lines": LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count(),
        "jobs": OrmQ.objects.count(),
    }


def has_swept() -> bool:
    """Whether the schedule itself has ordered a sweep, and not only we."""
    sweeps = Schedule.objects.filter(func="verdicts.tasks.sweep")
    return bool(sweeps.exclude(task=None).exists())


def site_facts(canary: str) -> dict[str, Any]:
    return {
        "orders": list(_orders()),
        "log": asdict(_log()),
        "etags": dict(CachedVerdict.objects.values_list("session_id", "etag")),
        "wrong_cache": list(_wrong_cache()),
        "leaks": [*_leaks_in_rows(canary), *_leaks_in_jobs(canary), *_leaks_in_files(canary)],
        "waiting": waiting(),
        "swept": has_swept(),
        "told_retired": Delivery.objects.filter(kind=Delivery.Kind.RETIRED).count(),
    }


def _is_refunded_early(order: Order) -> bool:
    """Ended by a refund before it was judged: unlike other failures, no case is opened for it."""
    return order.status == Status.FAILED and order.refunded_at is not None and not order.cases.all()


def _orders() -> Iterator[dict[str, Any]]:
    cached = set(CachedVerdict.objects.values_list("session_id", flat=True))
    originals = ModelCall.objects.filter(kind="original")
    retired = _by_session(originals.filter(outcome="retired"))
    timed_out = _by_session(ModelCall.objects.filter(error__startswith="no answer within"))
    compared = set(DivergenceEvent.objects.values_list("crosscheck_id", flat=True))
    contradictions = _contradictions()
    related = ("verdicts", "cases", "deliveries")
    for order in Order.objects.exclude(session_id=None).prefetch_related(*related).order_by("pk"):
        verdicts = order.verdicts.all()
        regens = [one for one in verdicts if one.kind == "regen"]
        rejected = _rejections(order)
        yield {
            "pk": order.pk,
            "number": number_in(order.query),
            "session": order.session_id,
            "status": "refunded" if _is_refunded_early(order) else order.status,
            "refunded": order.refunded_at is not None,
            "attempts": order.attempts,
            "regens": order.regens,
            "originals": sum(one.kind == "original" for one in verdicts),
            "regenerations": len(regens),
            "uncompared": sum(one.crosscheck_id not in compared for one in regens),
            "contradictions": len(contradictions[order.session_id]),
            "rejections": len(rejected),
            "without_evidence": sum(not _has_evidence(one) for one in rejected),
            "retired_calls": retired[order.session_id or ""],
            "timed_out": timed_out[order.session_id or ""],
            "cached": order.session_id in cached,
            "cases": _open_cases(order),
            "emails": [(one.kind, one.state, one.message_id) for one in order.deliveries.all()],
        }


def _by_session(calls: QuerySet[ModelCall]) -> Counter[str]:
    return Counter(calls.values_list("session_id", flat=True))


def _contradictions() -> dict[str | None, set[tuple[str, str]]]:
    """What each session has to be told of: a notice for each pair of labels, however often."""
    found: dict[str | None, set[tuple[str, str]]] = defaultdict(set)
    for event in DivergenceEvent.objects.filter(level="significant"):
        found[event.session_id].add((event.original_verdict, event.regen_verdict))
    return found


def _open_cases(order: Order) -> list[str]:
    """About the order itself; one about an email is in the email's state."""
    of_order = [one for one in order.cases.all() if one.kind != Case.Kind.EMAIL]
    return sorted(one.kind for one in of_order if one.closed_at is None)


def _rejections(order: Order) -> list[CrosscheckLog]:
    checks = CrosscheckLog.objects.filter(session_id=order.session_id, approved=False)
    return list(checks.select_related("call"))


def _has_evidence(check: CrosscheckLog) -> bool:
    """What the model said is kept, unless it said nothing."""
    call = check.call
    return bool(check.evidence) or (call is not None and not call.output_tokens)


def _log() -> LogFacts:
    found = verify_log()
    return LogFacts(
        lines=found.lines,
        pending=LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count(),
        fault=str(found.first) if found.first else "",
        unmatched=[*_without_entry(), *_without_line()],
        left_waiting=LogEntry.objects.aggregate(times=Sum("failures"))["times"] or 0,
    )


def _without_entry() -> Iterator[str]:
    """One by one: by their number a row without an entry and one with two would be even."""
    entries = [json.loads(entry) for entry in LogEntry.objects.values_list("entry", flat=True)]
    for event, (model, names) in LINES.items():
        of_event = [entry for entry in entries if entry["event"] == event]
        said = Counter(tuple(entry[name] for name in names) for entry in of_event)
        there = Counter(model._default_manager.values_list(*names))  # noqa: SLF001 - Django's name
        for what in sorted(key for key in said | there if said[key] != there[key]):
            yield f"{event} {what}: {said[what]} entries for {there[what]} rows"


def _without_line() -> Iterator[str]:
    parsed = (chain.parse(line) or {} for line in reader.lines(settings.ORACLE_LOG_PATH))
    lines = Counter(chain.entry_id(fields) for fields in parsed)
    for entry in LogEntry.objects.values_list("public_id", flat=True):
        if lines[entry] != 1:
            yield f"entry {entry} has {lines[entry]} lines"


def _wrong_cache() -> Iterator[str]:
    for entry in CachedVerdict.objects.select_related("verdict__order", "verdict__crosscheck"):
        verdict, order = entry.verdict, entry.verdict.order
        rendered = render(
            tier=order.tier,
            query=order.query,
            payload=verdict.payload,
            cached_at=verdict.created_at,
            comparison=cache.comparison_of(verdict),
            refunded_at=order.refunded_at,
        )
        same = (entry.body, entry.etag) == (rendered.body, rendered.etag)
        approved = entry.approved and verdict.crosscheck.approved
        if not (same and approved and order.session_id == entry.session_id):
            yield entry.session_id


def _leaks_in_rows(canary: str) -> Iterator[str]:
    """Every column of every table that can hold a text, but the quarantine."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:  # noqa: SLF001 - Django's own name for it
            if not isinstance(field, CharField | TextField | JSONField):
                continue
            if (model, field.name) == QUARANTINE:
                continue
            texts = model._default_manager.annotate(drilled=Cast(field.name, TextField()))  # noqa: SLF001 - likewise
            if texts.filter(drilled__contains=canary).exists():
                yield f"{model.__name__}.{field.name}"


def _leaks_in_jobs(canary: str) -> Iterator[str]:
    """What the queue keeps is pickled, so that no query of a database sees into it."""
    for task in Task.objects.iterator():
        for name in ("args", "kwargs", "result"):
            if canary in repr(getattr(task, name)):
                yield f"Task.{name}"
    for job in OrmQ.objects.iterator():
        if canary in repr(job.task):
            yield "OrmQ.payload"


def _leaks_in_files(canary: str) -> Iterator[str]:
    log = settings.ORACLE_LOG_PATH
    for path in (log, beside(log, ".torn")):
        if path.exists() and canary.encode() in path.read_bytes():
            yield path.name
