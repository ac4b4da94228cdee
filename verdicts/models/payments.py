"""What Stripe reported, and how often Stripe is asked."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class StripeEvent(models.Model):
    """One event of Stripe's, stored before anything is done about it."""

    event_id = models.CharField(max_length=255, unique=True)
    type = models.CharField(max_length=100)
    # As text: PostgreSQL's JSON does not take every string that JSON allows.
    object = models.TextField()
    received_at = models.DateTimeField(auto_now_add=True)
    processed_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=100, blank=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                "received_at", name="event_unprocessed", condition=Q(processed_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.event_id}"


class Reconciled(models.Model):
    """When Stripe's books were last compared with ours to their end, and mended: one row."""

    ONLY = 1

    looked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"reconciled at {self.looked_at}"


class LookupLimit(models.Model):
    """How often an address had us ask Stripe about sessions we do not know, this minute (R10)."""

    address = models.CharField(max_length=64, primary_key=True)  # hashed: it is personal
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField()

    class Meta:
        db_table = "verdicts_lookups"  # its name before

    def __str__(self) -> str:
        return f"{self.count} lookups"
