"""Stored comparisons of regenerations whose inputs equalled the original's (R14)."""

from audit.models import CrosscheckLog, DivergenceEvent


def add_comparisons(count: int, level: str = "none") -> list[DivergenceEvent]:
    """Store `count` comparisons of this level."""
    events = []
    for number in range(count):
        check = CrosscheckLog.objects.create(
            session_id=f"cs_test_compared{number:05}",
            kind="regen",
            tier="full",
            approved=True,
            coherence_score=1.0,
            threshold=0.97,
            verdict_label="GREEN",
            crosscheck_reason="pass",
        )
        event = DivergenceEvent.objects.create(
            crosscheck=check,
            session_id=check.session_id,
            tier=check.tier,
            original_verdict={"none": "GREEN", "minor": "AMBER", "significant": "RED"}[level],
            original_source="verdict",
            regen_verdict=check.verdict_label,
            level=level,
            skipped=False,
            causes=["infrastructure"],
            same_inputs=True,
            latency_ms=1,
        )
        events.append(event)
    return events
