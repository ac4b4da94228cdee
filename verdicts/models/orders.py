"""Orders. State moves by compare-and-swap, never by save()."""

import uuid
from collections.abc import Collection
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from audit.core.vocabulary import TierName
from audit.models import TIER_CHOICES


class Status(models.TextChoices):
    """The state of an order. verdicts.results.read maps each to the reader's outcome."""

    CREATED = "created", "waiting for payment"
    AWAITING = "awaiting", "waiting for a delayed payment"
    PAID = "paid", "paid"
    GENERATING = "generating", "being judged"
    DELIVERED = "delivered", "delivered"
    HELD = "held", "held for staff"
    REJECTED = "rejected", "rejected by the gate"
    FAILED = "failed", "failed"
    EXPIRED = "expired", "expired unpaid"
    PAYMENT_FAILED = "payment_failed", "payment failed"
    ERASED = "erased", "erased"


# A payment is still accepted for these.
UNPAID = frozenset({Status.CREATED, Status.AWAITING, Status.EXPIRED, Status.PAYMENT_FAILED})


class Recovered(models.TextChoices):
    """How an order that this database did not know was recreated (R10). The label is displayed."""

    JUDGED = "judged", "the log has its verdict, which was emailed before"
    OLDER = "older", "sold before this installation: its verdict was emailed then"
    UNCLEAR = "unclear", "another host may have emailed its verdict, or none has"


class Order(models.Model):
    """One purchase. The token identifies it to Stripe before the session has an id."""

    token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session_id = models.CharField(max_length=255, unique=True, null=True, blank=True)
    status = models.CharField(max_length=20, choices=Status, default=Status.CREATED)
    tier: "models.CharField[TierName, TierName]" = models.CharField(
        max_length=8, choices=TIER_CHOICES
    )
    query = models.TextField()
    email = models.EmailField(max_length=320, blank=True)
    price_cents = models.PositiveIntegerField()
    currency = models.CharField(max_length=3)
    payment_intent = models.CharField(max_length=255, blank=True, db_index=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    refunded_cents = models.PositiveIntegerField(default=0)
    refunded_at = models.DateTimeField(null=True, blank=True)
    # Model calls started for the original; counted before each call, so that a call that kills
    # its worker counts too.
    attempts = models.PositiveSmallIntegerField(default=0)
    # While it is unfinished: when its job is due, or when the lease of the worker that holds it
    # expires. After that any worker may take it over.
    due_at = models.DateTimeField(null=True, blank=True)
    # When Stripe was last asked about it while it was unpaid here (R10).
    reread_at = models.DateTimeField(null=True, blank=True)
    # The model that was retired when this order was last tried (R16).
    retired_model = models.CharField(max_length=100, blank=True)
    # The last regeneration: when it was started (by the database's clock), how many there were,
    # and when its lease expires (R5, R6).
    regen_at = models.DateTimeField(null=True, blank=True)
    regens = models.PositiveIntegerField(default=0)
    regen_until = models.DateTimeField(null=True, blank=True)
    # The number of the authorized fresh generation, if there was one (R15).
    authorization = models.PositiveSmallIntegerField(null=True, blank=True)
    recovered = models.CharField(max_length=8, choices=Recovered, blank=True, db_default="")
    # Displayed only: no code depends on what it says.
    reason = models.CharField(max_length=200, blank=True, help_text="why held, rejected or failed")
    # Cache hits, and the last one: counted in batches, a few seconds late.
    hits = models.PositiveIntegerField(default=0)
    last_read_at = models.DateTimeField(null=True, blank=True)
    # Set only by `manage.py smoke_test`, before it pays.
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # For the sweep: paid and unfinished.
            models.Index(
                "due_at",
                name="order_unfinished",
                condition=Q(status__in=[Status.PAID, Status.GENERATING]),
            ),
            models.Index("paid_at", "tier", "status", "smoke", name="order_day"),
            # For staff: by email in any case, and by the console's filters.
            models.Index(Lower("email"), name="order_email_lower"),
            models.Index("status", "id", name="order_status"),
            models.Index("tier", "id", name="order_tier"),
            models.Index("id", name="order_smoke", condition=Q(smoke=True)),
        ]

    def __str__(self) -> str:
        return f"order {self.pk} ({self.tier}, {self.status})"

    def lock(self) -> "Order":
        """The order as it is now, locked until the transaction ends (SELECT FOR UPDATE)."""
        return Order.objects.select_for_update().get(pk=self.pk)

    def move(self, sources: Collection[str], target: str, **changes: Any) -> bool:
        """Compare-and-swap: to `target` if it still is in one of `sources`. False: it is not."""
        moved = Order.objects.filter(pk=self.pk, status__in=sources).update(
            status=target, **changes
        )
        if moved:
            self.refresh_from_db()
        return bool(moved)
