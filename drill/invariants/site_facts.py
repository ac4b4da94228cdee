"""Collects the facts of the drilled site from its database and its log."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.db.models import CharField, JSONField, Model, Q, QuerySet, Sum, TextField
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

# By event: the model whose every row has one entry in the log, and the fields that both have.
LOGGED: Final[dict[str, tuple[type[Model], tuple[str, ...]]]] = {
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
# The only column that may contain rejected text (C15).
QUARANTINE: Final = (CrosscheckLog, "evidence")


def pending() -> dict[str, int]:
    """How much unfinished work there is, by kind."""
    unfinished = (Status.PAID, Status.GENERATING)
    unsent = (Delivery.State.PENDING, Delivery.State.SENDING)
    return {
        "orders": Order.objects.filter(status__in=unfinished).count(),
        "emails": Delivery.objects.filter(state__in=unsent).count(),
        "comparisons": Verdict.objects.filter(compare_due_at__isnull=False).count(),
        "events": StripeEvent.objects.filter(processed_at=None).count(),
        "log lines": LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count(),
        "jobs": OrmQ.objects.count(),
    }


def has_swept() -> bool:
    """Whether the site's own schedule has queued a sweep, not only the drill."""
    sweeps = Schedule.objects.filter(func="verdicts.tasks.sweep")
    return bool(sweeps.exclude(task=None).exists())


def site_facts(canary: str) -> dict[str, Any]:
    return {
        "orders": list(_orders()),
        "log": asdict(_log()),
        "etags": dict(CachedVerdict.objects.values_list("session_id", "etag")),
        "wrong_cache": list(_wrong_cache()),
        "leaks": [*_leaks_in_rows(canary), *_leaks_in_jobs(canary), *_leaks_in_files(canary)],
        "pending": pending(),
        "swept": has_swept(),
    }


def _is_refunded_early(order: Order) -> bool:
    """Whether a refund ended the order before it was judged: other failures open a case."""
    return order.status == Status.FAILED and order.refunded_at is not None and not order.cases.all()


def _orders() -> Iterator[dict[str, Any]]:
    cached = set(CachedVerdict.objects.values_list("session_id", flat=True))
    originals = ModelCall.objects.filter(kind="original")
    retired = _by_session(originals.filter(outcome=ModelCall.Outcome.RETIRED))
    timed_out = _by_session(_timed_out_calls())
    compared = set(DivergenceEvent.objects.values_list("crosscheck_id", flat=True))
    contradictions = _contradictions()
    related = ("verdicts", "cases", "deliveries")
    for order in Order.objects.exclude(session_id=None).prefetch_related(*related).order_by("pk"):
        verdicts = order.verdicts.all()
        regenerations = [one for one in verdicts if one.kind == "regen"]
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
            "regenerations": len(regenerations),
            "uncompared": sum(one.crosscheck_id not in compared for one in regenerations),
            "contradictions": len(contradictions[order.session_id]),
            "rejections": len(rejected),
            "without_evidence": sum(not _has_evidence(one) for one in rejected),
            "retired_calls": retired[order.session_id or ""],
            "timed_out": timed_out[order.session_id or ""],
            "cached": order.session_id in cached,
            "open_cases": _open_cases(order),
            "emails": [(one.kind, one.state, one.message_id) for one in order.deliveries.all()],
        }


def _by_session(calls: QuerySet[ModelCall]) -> Counter[str]:
    return Counter(calls.values_list("session_id", flat=True))


def _timed_out_calls() -> QuerySet[ModelCall]:
    """BUSY is the outcome of every failed call: those that timed out lasted for their deadline."""
    seconds = {
        "original": settings.ORACLE_MODEL_DEADLINE,
        "regen": settings.ORACLE_REGENERATION_DEADLINE,
    }
    at_deadline = Q()
    for kind, deadline in seconds.items():
        at_deadline |= Q(kind=kind, duration_ms__gte=deadline * 1000)
    return ModelCall.objects.filter(at_deadline, outcome=ModelCall.Outcome.BUSY)


def _contradictions() -> dict[str | None, set[tuple[str, str]]]:
    """The pairs of labels of which each session's customer must be notified: each pair once."""
    found: dict[str | None, set[tuple[str, str]]] = defaultdict(set)
    for event in DivergenceEvent.objects.filter(level="significant"):
        found[event.session_id].add((event.original_verdict, event.regen_verdict))
    return found


def _open_cases(order: Order) -> list[str]:
    """Without cases of emails: those are covered by the email's state."""
    of_order = [one for one in order.cases.all() if one.kind != Case.Kind.EMAIL]
    return sorted(one.kind for one in of_order if one.closed_at is None)


def _rejections(order: Order) -> list[CrosscheckLog]:
    checks = CrosscheckLog.objects.filter(session_id=order.session_id, approved=False)
    return list(checks.select_related("call"))


def _has_evidence(check: CrosscheckLog) -> bool:
    """Whether the output is stored as evidence, or was empty."""
    call = check.call
    return bool(check.evidence) or (call is not None and not call.output_tokens)


def _log() -> LogFacts:
    found = verify_log()
    return LogFacts(
        lines=found.lines,
        pending=LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count(),
        defect=str(found.first) if found.first else "",
        unmatched=[*_without_entry(), *_without_line()],
        failed_writes=LogEntry.objects.aggregate(times=Sum("failures"))["times"] or 0,
    )


def _without_entry() -> Iterator[str]:
    """Compared one by one: a missing and a duplicate entry would cancel out in a count."""
    entries = [json.loads(entry) for entry in LogEntry.objects.values_list("entry", flat=True)]
    for event, (model, names) in LOGGED.items():
        of_event = [entry for entry in entries if entry["event"] == event]
        logged = Counter(tuple(entry[name] for name in names) for entry in of_event)
        stored = Counter(model._default_manager.values_list(*names))  # noqa: SLF001 - public in Django
        for what in sorted(key for key in logged | stored if logged[key] != stored[key]):
            yield f"{event} {what}: {logged[what]} entries for {stored[what]} rows"


def _without_line() -> Iterator[str]:
    parsed = (chain.parse(line) or {} for line in reader.lines())
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
    """Searches every text column of every table except the quarantine."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:  # noqa: SLF001 - public in Django
            if not isinstance(field, CharField | TextField | JSONField):
                continue
            if (model, field.name) == QUARANTINE:
                continue
            texts = model._default_manager.annotate(drilled=Cast(field.name, TextField()))  # noqa: SLF001 - likewise
            if texts.filter(drilled__contains=canary).exists():
                yield f"{model.__name__}.{field.name}"


def _leaks_in_jobs(canary: str) -> Iterator[str]:
    """The queue's columns are pickled, so SQL cannot search them."""
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
