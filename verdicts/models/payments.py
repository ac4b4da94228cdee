"""What Stripe reported, and how often Stripe is asked."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class StripeEvent(models.Model):
    """One Stripe event, stored before it is processed."""

    class Outcome(models.TextChoices):
        """What processing an event came to. The labels are displayed only."""

        PAID = "paid", "paid"
        HELD = "held", "held for staff"
        AWAITING = "awaiting", "awaiting payment"
        RECREATED = "recreated", "recreated"
        ALREADY_PAID = "already_paid", "already paid"
        ALREADY_ADVANCED = "already_advanced", "order already advanced"
        EXPIRED = "expired", "expired"
        PAYMENT_FAILED = "payment_failed", "payment failed"
        ERASED = "erased", "erased"
        NOT_OURS = "not_ours", "not our session"
        UNKNOWN_PAYMENT = "unknown_payment", "unknown payment"
        NO_PAYMENT_NAMED = "no_payment_named", "names no payment"
        NO_AMOUNT = "no_amount", "no amount"
        REFUNDED = "refunded", "refunded"
        REFUNDED_IN_PART = "refunded_in_part", "refunded in part"
        REFUND_IN_PROGRESS = "refund_in_progress", "refund in progress"
        REFUND_FAILED = "refund_failed", "refund failed"
        NOT_HANDLED = "not_handled", "event type not handled"

    event_id = models.CharField(max_length=255, unique=True)
    type = models.CharField(max_length=100)
    # As text: PostgreSQL's JSON does not take every string that JSON allows.
    object = models.TextField()
    received_at = models.DateTimeField(auto_now_add=True)
    processed_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=100, choices=Outcome, blank=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                "received_at", name="event_unprocessed", condition=Q(processed_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.event_id}"


class Reconciled(models.Model):
    """When reconciliation with Stripe last completed and repaired what it could: one row."""

    ONLY = 1

    looked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"reconciled at {self.looked_at}"


class LookupLimit(models.Model):
    """How many look-ups of unknown sessions a network has caused at Stripe this minute (R10)."""

    address = models.CharField(max_length=64, primary_key=True)  # hashed: it is personal
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField()

    class Meta:
        db_table = "verdicts_lookups"  # its name before

    def __str__(self) -> str:
        return f"{self.count} lookups"
