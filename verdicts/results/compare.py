"""Compares a regeneration with the emailed original, after its reader was answered.

Every comparison is recorded, also one that found no difference or had no original to compare
with. The job may run twice: the first run counts.
"""

from django.db import transaction
from django.utils import timezone

from audit.core.divergence import Cause, attribute, classify, compare_dimensions
from audit.core.record import divergence_entry
from audit.log import log
from audit.models import DivergenceEvent
from audit.variance import escalate
from verdicts.core.formatting import format_interval
from verdicts.mail.outbox import enqueue_email
from verdicts.models import Delivery, Order, Status, Verdict
from verdicts.results import cache
from verdicts.results.emailed_original import Original, provenance, recover


def compare(verdict_id: int) -> DivergenceEvent | None:
    """Compare, record and notify. None: there is nothing to compare, or it was done before."""
    regen = Verdict.objects.select_related("order", "call").get(pk=verdict_id)
    if regen.compare_due_at is None:
        return None
    original = recover(regen.order)
    with transaction.atomic():
        order = regen.order.lock()
        done = Verdict.objects.filter(pk=regen.pk, compare_due_at__isnull=False)
        if not done.update(compare_due_at=None) or order.status == Status.ERASED:
            return None  # another worker was faster, or the order was erased
        event = _record(order, regen, original)
        cache.refresh(order, of=regen)
        if event.level == "significant":
            # One notice per pair of labels: a repeated contradiction is not reported again.
            name = f"{order.token.hex}.{original.label}-{regen.label}"
            enqueue_email(order, Delivery.Kind.DIVERGENCE, name=name, regen=regen)
        if not order.smoke:  # smoke tests do not change the rate
            _escalate_variance(order)
    return event


def _record(order: Order, regen: Verdict, original: Original) -> DivergenceEvent:
    now = timezone.now()
    level = classify(original.label, regen.label)
    causes = _causes(regen, original)
    event = DivergenceEvent.objects.create(
        crosscheck=regen.crosscheck,
        session_id=order.session_id or "",
        tier=order.tier,
        original_verdict=original.label,
        original_source=original.source,
        regen_verdict=regen.label,
        level=level or "",
        skipped=level is None,
        dimensions=_dimensions(order, regen, original),
        causes=list(causes),
        same_inputs=causes == ("infrastructure",),
        latency_ms=max(0, round((now - regen.created_at).total_seconds() * 1000)),
        smoke=order.smoke,
    )
    log.append(
        divergence_entry(
            session_id=order.session_id or "",
            tier=order.tier,
            original_verdict=original.label,
            regen_verdict=regen.label,
            at=now,
            smoke=order.smoke,
        )
    )
    return event


def _dimensions(order: Order, regen: Verdict, original: Original) -> list[dict[str, object]]:
    if original.payload is None:
        return []
    changes = compare_dimensions(order.tier, original.payload, regen.payload)
    return [change._asdict() for change in changes]


def _causes(regen: Verdict, original: Original) -> tuple[Cause, ...]:
    ours = provenance(regen.call)
    return attribute(original.provenance, ours) if ours else ("unknown",)


def _escalate_variance(order: Order) -> None:
    """Alert staff if the infrastructure variance is above its limit (R14)."""
    escalation = escalate(timezone.now())
    if escalation:
        about = (
            f"{escalation.diverged} of {escalation.checked} regenerations on equal terms "
            f"differed from the emailed verdict: {escalation.rate:.1%}, "
            f"95% interval {format_interval(escalation.low, escalation.high)}"
        )
        enqueue_email(order, Delivery.Kind.ESCALATION, name=f"{escalation.day}", about=about)
