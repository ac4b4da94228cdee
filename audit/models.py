"""What was asked of the model, how its answers were judged, and the lines of the log.

Rows nobody edits. `session_id` links to an order without a foreign key: this
app knows no orders. A row that is `smoke` comes of a smoke test and counts in
no figure; the database knows the default too, so that the code from before an
upgrade can go on writing while it is under way.
"""

from datetime import date
from typing import Any, NoReturn
from uuid import uuid4

from django.db import models

from audit.core.crosscheck import Decision
from audit.core.vocabulary import LABELS, UNKNOWN

KINDS = [("original", "original"), ("regen", "regeneration")]
TIER_CHOICES = [("quick", "quick"), ("full", "full"), ("strategy", "strategy")]
LABEL_CHOICES = [(label, label) for label in (*LABELS, UNKNOWN)]


class ModelCall(models.Model):
    """One call to the model, whatever became of it (R1). `sent` is what went out."""

    class Outcome(models.TextChoices):
        ANSWERED = "answered", "answered"
        BUSY = "busy", "busy or out of reach"
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
            # Whole: SQLite uses an index of some rows only where the query names no values.
            models.Index(fields=["outcome", "id"], name="call_outcome"),
        )

    def __str__(self) -> str:
        return f"call {self.pk} to {self.model}: {self.outcome}"

    def forget_query(self) -> None:
        """Without what is made from the query alone: its digest, and the seed."""
        self.prompt_sha256 = ""
        self.asked = {key: value for key, value in self.asked.items() if key != "seed"}
        self.sent = {key: value for key, value in self.sent.items() if key != "seed"}


class CrosscheckLog(models.Model):
    """One decision of the gate. A rejected output's text is kept here alone, as evidence (C15)."""

    session_id = models.CharField(max_length=255, db_index=True)
    kind = models.CharField(max_length=8, choices=KINDS)
    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    call = models.ForeignKey(ModelCall, on_delete=models.PROTECT, null=True, related_name="checks")
    approved = models.BooleanField()
    coherence_score = models.FloatField(null=True)
    threshold = models.FloatField()
    verdict_label = models.CharField(max_length=7, choices=LABEL_CHOICES)
    flags = models.JSONField(default=list)
    # Approved all the same (C14): staff can list these.
    flagged = models.BooleanField(default=False)
    crosscheck_reason = models.CharField(max_length=30)
    v_t = models.FloatField(null=True)
    v_r = models.FloatField(null=True)
    e_d = models.FloatField(null=True)
    contributions = models.JSONField(default=list)
    error = models.CharField(max_length=200, blank=True)
    # Escaped: a rejected output may hold what no database takes (C18).
    evidence = models.TextField(blank=True)
    evidence_purged_at = models.DateTimeField(null=True, blank=True)
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        permissions = (("view_evidence", "Can read the text of rejected outputs"),)
        indexes = (
            # What a day's figures are counted from.
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
        """The row for a decision; the output is kept only where it was rejected."""
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


class DivergenceEvent(models.Model):
    """One comparison of a regeneration with what was emailed; one per regeneration."""

    SOURCES = (("verdict", "stored verdict"), ("log", "log"), ("none", "not recoverable"))

    # The regeneration's crosscheck: this app knows no verdicts.
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
    causes = models.JSONField(help_text="what can explain a difference, were there one (R14)")
    # Prompt, config and model are the original's: what R14's rate counts.
    same_inputs = models.BooleanField()
    latency_ms = models.PositiveIntegerField(help_text="from the regeneration to this comparison")
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = (
            # All that a report or R14's rate counts, so that neither reads a row.
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
            # By these staff filter the list, which is in the order of ids.
            models.Index(fields=["level", "id"], name="divergence_level"),
            models.Index(fields=["tier", "id"], name="divergence_tier"),
            models.Index(fields=["causes", "id"], name="divergence_causes"),
        )

    def __str__(self) -> str:
        return f"{self.original_verdict} to {self.regen_verdict}: {self.level or 'skipped'}"


class Escalation(models.Model):
    """The model's own variance was above the line (R14); at most one a day."""

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
    """The same call made several times for its own sake: how far the answers agreed.

    The first answer stands for the original, the others are compared with it.
    No session's: it is no part of the record (C18).
    """

    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    model = models.CharField(max_length=100)
    prompt_sha256 = models.CharField(max_length=64)
    temperature = models.FloatField(null=True)
    seed = models.BigIntegerField(null=True)
    asked = models.PositiveIntegerField()
    unanswered = models.PositiveIntegerField()
    rejected = models.PositiveIntegerField(help_text="by the gate")
    compared = models.PositiveIntegerField(help_text="answers beside the first")
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


class DayCount(models.Model):
    """How often something happened on one day: the console's figures, ready to be added up.

    Rolled up from the rows themselves (`verdicts.services.figures`), except for
    what is counted as it happens, which nothing else keeps. Days that nobody looks
    at any more are added up under LONG_AGO (`verdicts.services.long_ago`).
    """

    LONG_AGO = date(2000, 1, 1)

    HIT = "hit"
    READ = "read"  # whatever was not in the cache, by what the reader got
    LOG_FAILURE = "log failure"
    EMAIL = "email"  # an end that one came to: its kind and its state
    GAP = "gap"  # one that `reconcile` has mended, by its kind
    UNRECONCILED = "unreconciled"  # an hourly look that did not come to its end
    GAPS_LEFT = "gaps left"  # by the day's last look: for a person, and without a case
    EQUAL_TERMS = "equal terms"  # what R14's rate counts, by level (`audit.variance`)
    AS_IT_HAPPENS = (HIT, READ, LOG_FAILURE, EMAIL, GAP, UNRECONCILED, GAPS_LEFT)

    day = models.DateField()
    name = models.CharField(max_length=20)
    tier = models.CharField(max_length=8, blank=True)
    key = models.CharField(max_length=30, blank=True)
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["day", "name", "tier", "key"], name="one_count_a_day"),
        )

    def __str__(self) -> str:
        return f"{self.day} {self.name} {self.tier} {self.key}: {self.count}"

    @classmethod
    def add(cls, day: date, name: str, *, key: str = "", by: int = 1) -> None:
        """Count it as it happens: one of `AS_IT_HAPPENS`."""
        row, _ = cls.objects.get_or_create(
            day=day, name=name, tier="", key=key, defaults={"count": 0}
        )
        cls.objects.filter(pk=row.pk).update(count=models.F("count") + by)

    @classmethod
    def put(cls, day: date, name: str, count: int) -> None:
        """How many there are now, instead of what was said before: also `AS_IT_HAPPENS`."""
        cls.objects.update_or_create(day=day, name=name, tier="", key="", defaults={"count": count})


class Action(models.Model):
    """What a person did about a session, and why. Each has its line in the log."""

    session_id = models.CharField(max_length=255, db_index=True)
    action = models.CharField(max_length=30)
    who = models.CharField(max_length=150)
    reason = models.CharField(max_length=500)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.action} by {self.who}"


def escape_evidence(output: str) -> str:
    """The output in ASCII that any database and terminal takes, one line, reversible."""
    return output.encode("unicode_escape").decode("ascii")


def unescape_evidence(evidence: str) -> str:
    return evidence.encode("ascii").decode("unicode_escape")


class AppendOnly(Exception):
    """A row of the record was to be changed or deleted."""


def new_public_id() -> str:
    return uuid4().hex


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def pending(self, host: str) -> "LogEntryQuerySet":
        """What is not in that host's file yet, in the order in which it is to be written."""
        return self.filter(host=host, written_at__isnull=True).order_by("id")

    def written(self, host: str) -> "LogEntryQuerySet":
        """What is in that host's file, in the order of its chain."""
        return self.filter(host=host, sequence__isnull=False).order_by("sequence")

    def to_erase(self, host: str) -> "LogEntryQuerySet":
        """What is erased here and may still be read in that host's files."""
        return self.filter(host=host, erased_at__isnull=False, erased_in_file_at=None)

    def delete(self) -> NoReturn:
        raise AppendOnly("entries of the log are never deleted")


class LogEntry(models.Model):
    """A line of oracle_log.jsonl, committed with the state that it reports.

    Append-only: `audit.log_writer` marks a row as written and `audit.erasure` blanks
    a preview, by `update()`, and nothing else changes one. With `prev` a row holds all
    that its line is made of.
    """

    public_id = models.CharField(max_length=32, unique=True, default=new_public_id)
    # JSON as text: PostgreSQL's own type sorts the keys and takes no NUL.
    entry = models.TextField()
    salt = models.CharField(max_length=32, blank=True)
    commitment = models.CharField(max_length=64, blank=True)
    host = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)
    failures = models.PositiveIntegerField(default=0)

    written_at = models.DateTimeField(null=True, blank=True)
    sequence = models.PositiveBigIntegerField(null=True, blank=True)
    prev = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64, blank=True)

    # When the preview was blanked here, and when in the files of its host.
    erased_at = models.DateTimeField(null=True, blank=True)
    erased_in_file_at = models.DateTimeField(null=True, blank=True)

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "log entry"
        verbose_name_plural = "log entries"
        constraints = (
            models.UniqueConstraint(fields=["host", "sequence"], name="one_line_a_place"),
            models.CheckConstraint(
                name="written_as_a_whole",
                condition=models.Q(written_at=None, sequence=None, prev="", hash="")
                | ~models.Q(prev="")
                & ~models.Q(hash="")
                & models.Q(written_at__isnull=False, sequence__isnull=False),
            ),
        )
        indexes = (
            # As small as what is waiting, however many were ever written.
            models.Index(
                fields=["host", "id"],
                name="log_entry_pending",
                condition=models.Q(written_at__isnull=True),
            ),
            models.Index(
                fields=["host", "id"],
                name="log_entry_to_erase",
                condition=models.Q(erased_at__isnull=False, erased_in_file_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return self.public_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("an entry of the log is never changed")
        super().save(*args, **kwargs)

    def delete(self, *_: object, **__: object) -> NoReturn:
        raise AppendOnly("an entry of the log is never deleted")
