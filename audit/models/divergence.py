"""Comparisons of regenerations with the emailed verdict, and determinism probes."""

from django.db import models

from audit.models.choices import LABEL_CHOICES, TIER_CHOICES
from audit.models.judgement import CrosscheckLog


class DivergenceEvent(models.Model):
    """The comparison of a regeneration with the emailed verdict; one per regeneration."""

    SOURCES = (("verdict", "stored verdict"), ("log", "log"), ("none", "not recoverable"))

    # The regeneration's crosscheck, because this app does not depend on verdicts.
    crosscheck = models.OneToOneField(
        CrosscheckLog, on_delete=models.PROTECT, related_name="divergence"
    )
    session_id = models.CharField(max_length=255, db_index=True)
    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    original_verdict = models.CharField(max_length=7, choices=LABEL_CHOICES)
    original_source = models.CharField(max_length=7, choices=SOURCES)
    regen_verdict = models.CharField(max_length=7, choices=LABEL_CHOICES)
    level = models.CharField(
        max_length=11,
        blank=True,  # skipped
        choices=[(level, level) for level in ("none", "minor", "significant")],
    )
    skipped = models.BooleanField(help_text="there was no original to compare with (R11)")
    dimensions = models.JSONField(default=list)
    causes = models.JSONField(help_text="possible causes of a difference (R14)")
    # Same prompt, config and model as the original: only these count for R14's rate.
    same_inputs = models.BooleanField()
    latency_ms = models.PositiveIntegerField(help_text="from the regeneration to this comparison")
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = (
            # A covering index for the report and for R14's rate: neither reads rows.
            models.Index(
                fields=[
                    "created_at",
                    "tier",
                    "level",
                    "skipped",
                    "same_inputs",
                    "smoke",
                    "causes",
                ],
                name="divergence_day",
            ),
            # The console's filters; the list is ordered by id.
            models.Index(fields=["level", "id"], name="divergence_level"),
            models.Index(fields=["tier", "id"], name="divergence_tier"),
            models.Index(fields=["causes", "id"], name="divergence_causes"),
        )

    def __str__(self) -> str:
        return f"{self.original_verdict} to {self.regen_verdict}: {self.level or 'skipped'}"


class Escalation(models.Model):
    """The model's variance was above the alert rate (R14); at most one a day."""

    day = models.DateField(unique=True)
    checked = models.PositiveIntegerField()
    diverged = models.PositiveIntegerField()
    low = models.FloatField()
    high = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.day}: {self.diverged} of {self.checked}"

    @property
    def rate(self) -> float:
        return self.diverged / self.checked


class DeterminismProbe(models.Model):
    """The same request sent several times, to measure how far the answers agree.

    The first answer plays the original, and the others are compared with it. It belongs to no
    session and is not part of the audit log (C18).
    """

    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    model = models.CharField(max_length=100)
    prompt_sha256 = models.CharField(max_length=64)
    temperature = models.FloatField(null=True)
    seed = models.BigIntegerField(null=True)
    asked = models.PositiveIntegerField()
    unanswered = models.PositiveIntegerField()
    rejected = models.PositiveIntegerField(help_text="by the gate")
    compared = models.PositiveIntegerField(help_text="answers compared with the first")
    same_label = models.PositiveIntegerField()
    same_dimensions = models.PositiveIntegerField(null=True, help_text="empty: the tier has none")
    same_text = models.PositiveIntegerField()
    distinct_texts = models.PositiveIntegerField()
    low = models.FloatField(help_text="95% interval of the share with the same label")
    high = models.FloatField()
    model_versions = models.JSONField()
    prompt_tokens = models.PositiveBigIntegerField()
    output_tokens = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"probe {self.pk} of {self.model}: {self.same_label} of {self.compared}"
