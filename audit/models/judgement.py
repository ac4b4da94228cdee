"""Model calls, and the gate's decision on each answer."""

from typing import Any

from django.db import models

from audit.core.crosscheck import Decision
from audit.models.choices import KINDS, LABEL_CHOICES, TIER_CHOICES


class ModelCall(models.Model):
    """One call to the model, successful or not (R1). `sent` are the parameters of the request."""

    class Outcome(models.TextChoices):
        ANSWERED = "answered", "answered"
        BUSY = "busy", "busy or unreachable"
        REFUSED = "refused", "refused the request"
        RETIRED = "retired", "model retired"
        CRASHED = "crashed", "our own error"

    session_id = models.CharField(max_length=255, db_index=True)
    kind = models.CharField(max_length=8, choices=KINDS)
    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    model = models.CharField(max_length=100)
    prompt_sha256 = models.CharField(max_length=64)
    asked = models.JSONField(help_text="the overrides that were asked for")
    sent = models.JSONField(help_text="the parameters that were sent")
    outcome = models.CharField(max_length=8, choices=Outcome)
    error = models.CharField(max_length=200, blank=True)
    finish_reason = models.CharField(max_length=50, blank=True)
    block_reason = models.CharField(max_length=50, blank=True)
    model_version = models.CharField(max_length=100, blank=True)
    response_id = models.CharField(max_length=100, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    duration_ms = models.PositiveIntegerField()
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = (
            models.Index(fields=["created_at", "tier", "kind", "smoke"], name="call_day"),
            # Not partial: SQLite ignores a partial index if the query binds the value.
            models.Index(fields=["outcome", "id"], name="call_outcome"),
        )

    def __str__(self) -> str:
        return f"call {self.pk} to {self.model}: {self.outcome}"

    def clear_query_data(self) -> None:
        """Clear what is derived from the query: the prompt's hash and the seed."""
        self.prompt_sha256 = ""
        self.asked = {key: value for key, value in self.asked.items() if key != "seed"}
        self.sent = {key: value for key, value in self.sent.items() if key != "seed"}


class CrosscheckLog(models.Model):
    """One decision of the gate. A rejected output's text is kept only here, as evidence (C15)."""

    session_id = models.CharField(max_length=255, db_index=True)
    kind = models.CharField(max_length=8, choices=KINDS)
    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    call = models.ForeignKey(ModelCall, on_delete=models.PROTECT, null=True, related_name="checks")
    approved = models.BooleanField()
    coherence_score = models.FloatField(null=True)
    threshold = models.FloatField()
    verdict_label = models.CharField(max_length=7, choices=LABEL_CHOICES)
    flags = models.JSONField(default=list)
    # Approved with flags (C14): staff can filter by this.
    flagged = models.BooleanField(default=False)
    crosscheck_reason = models.CharField(max_length=30)
    v_t = models.FloatField(null=True)
    v_r = models.FloatField(null=True)
    e_d = models.FloatField(null=True)
    contributions = models.JSONField(default=list)
    error = models.CharField(max_length=200, blank=True)
    # Escaped: a rejected output may contain characters that no database stores (C18).
    evidence = models.TextField(blank=True)
    evidence_purged_at = models.DateTimeField(null=True, blank=True)
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        permissions = (("view_evidence", "Can read the text of rejected outputs"),)
        indexes = (
            # For the daily statistics.
            models.Index(
                fields=["created_at", "kind", "tier", "crosscheck_reason", "smoke"],
                name="crosscheck_day",
            ),
            models.Index("id", name="crosscheck_flagged", condition=models.Q(flagged=True)),
            models.Index("id", name="crosscheck_rejected", condition=models.Q(approved=False)),
            models.Index(
                fields=["crosscheck_reason", "id"],
                name="crosscheck_reason",
                condition=models.Q(approved=False),
            ),
        )

    def __str__(self) -> str:
        return f"crosscheck {self.pk}: {self.crosscheck_reason}"

    @classmethod
    def record(cls, decision: Decision, output: str, **about: Any) -> "CrosscheckLog":
        """Create the row for a decision; the output is kept only if rejected."""
        return cls.objects.create(
            approved=decision.approved,
            coherence_score=decision.coherence_score,
            threshold=decision.threshold,
            verdict_label=decision.verdict_label,
            flags=list(decision.flags),
            flagged=decision.approved and bool(decision.flags),
            crosscheck_reason=decision.crosscheck_reason,
            v_t=decision.v_t,
            v_r=decision.v_r,
            e_d=decision.e_d,
            contributions=[c._asdict() for c in decision.contributions],
            error=decision.error or "",
            evidence="" if decision.approved else escape_evidence(output),
            **about,
        )


def escape_evidence(output: str) -> str:
    """The output as one line of ASCII, safe for databases and terminals; reversible."""
    return output.encode("unicode_escape").decode("ascii")


def unescape_evidence(evidence: str) -> str:
    return evidence.encode("ascii").decode("unicode_escape")
