"""A regeneration is compared with what was emailed, after its reader has been answered.

Each comparison is on record, also one that found nothing or had nothing to
compare with. May run twice and anywhere: the first one counts.
"""

from django.db import transaction
from django.utils import timezone

from audit.core.divergence import Cause, attribute, classify, compare_dimensions
from audit.core.record import divergence_entry
from audit.log import log
from audit.models import DivergenceEvent
from audit.variance import escalate
from verdicts.mail.outbox import enqueue_email
from verdicts.models import Delivery, Order, Status, Verdict
from verdicts.results import cache
from verdicts.results.emailed_original import Original, provenance, recover


def compare(verdict_id: int) -> DivergenceEvent | None:
    """Compare, record, tell. None: there is nothing to compare, or it has been."""
    regen = Verdict.objects.select_related("order", "call").get(pk=verdict_id)
    if regen.compare_due_at is None:
        return None
    original = recover(regen.order)
    with transaction.atomic():
        order = regen.order.lock()
        done = Verdict.objects.filter(pk=regen.pk, compare_due_at__isnull=False)
        if not done.update(compare_due_at=None) or order.status == Status.ERASED:
            return None  # another worker got there first, or there is nobody to tell any more
        event = _record(order, regen, original)
        cache.refresh(order, of=regen)
        if event.level == "significant":
            # Once for each contradiction: the same one again is no news.
            name = f"{order.token.hex}.{original.label}-{regen.label}"
            enqueue_email(order, Delivery.Kind.DIVERGENCE, name=name, regen=regen)
        if not order.smoke:  # it has not changed the rate
            _watch(order)
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
            tier=order.tier_name,
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
    changes = compare_dimensions(order.tier_name, original.payload, regen.payload)
    return [change._asdict() for change in changes]


def _causes(regen: Verdict, original: Original) -> tuple[Cause, ...]:
    ours = provenance(regen.call)
    return attribute(original.provenance, ours) if ours else ("unknown",)


def _watch(order: Order) -> None:
    """Whether the model contradicts itself too often by now (R14): staff hear of it."""
    escalation = escalate(timezone.now())
    if escalation:
        about = (
            f"{escalation.diverged} of {escalation.checked} regenerations on equal terms "
            f"differed from the emailed verdict: {escalation.rate:.1%}, "
            f"95% interval {escalation.low:.1%} to {escalation.high:.1%}"
        )
        enqueue_email(order, Delivery.Kind.ESCALATION, name=f"{escalation.day}", about=about)
