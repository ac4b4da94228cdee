"""Emails: one row each, under one Message-ID for all attempts."""

from typing import ClassVar

from django.db import models

from audit.models import LABEL_CHOICES
from verdicts.models.orders import Order
from verdicts.models.verdicts import Verdict


class Delivery(models.Model):
    """One email, under one Message-ID for all its attempts. Kinds: verdicts.mail.kinds."""

    # Each email kind needs a row in verdicts.mail.kinds and two templates.
    class Kind(models.TextChoices):
        VERDICT = "verdict", "verdict"
        HELD_BACK = "held_back", "held back"
        REFUND = "refund", "refund"
        STAFF = "staff", "to staff"
        RETIRED = "retired", "model retired, to staff"
        DIVERGENCE = "divergence", "divergence notice"
        ESCALATION = "escalation", "variance above the limit, to staff"
        UNRECONCILED = "unreconciled", "not reconciled with Stripe, to staff"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        SENDING = "sending", "sending"
        SENT = "sent", "sent"
        FAILED = "failed", "failed"
        UNCERTAIN = "uncertain", "uncertain: sent or not is unknown"

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="deliveries")
    kind = models.CharField(max_length=20, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    # The idempotency key: one email per name, also after a move to another domain. The Message-ID
    # of an email that exists never changes.
    name = models.CharField(max_length=255, editable=False)
    message_id = models.CharField(max_length=255, unique=True)
    about = models.CharField(max_length=200, blank=True, help_text="what the order does not say")
    # The regeneration that a divergence notice is about.
    regen = models.ForeignKey(Verdict, on_delete=models.PROTECT, null=True, blank=True)
    # The emailed verdict is authoritative: its label, and a digest of the body, by which two texts
    # can be compared.
    emailed_label = models.CharField(max_length=7, choices=LABEL_CHOICES, blank=True)
    body_sha256 = models.CharField(max_length=64, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)  # as on the order
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes: ClassVar[list[models.Index]] = [
            # Not partial: SQLite uses a partial index only where the query contains its constants.
            models.Index("state", "id", name="delivery_state"),
            models.Index("kind", "id", name="delivery_kind"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Not by `unique`: PostgreSQL would create a second index.
            models.UniqueConstraint(fields=["name"], name="one_email_per_name"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} email of order {self.order_id}: {self.state}"
