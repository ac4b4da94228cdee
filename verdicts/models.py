"""Orders and what becomes of them. State moves by compare-and-swap, never by save()."""

import uuid
from collections.abc import Collection
from typing import Any, ClassVar, cast

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from audit.core.vocabulary import TierName
from audit.models import KINDS, LABEL_CHOICES, TIER_CHOICES, CrosscheckLog, ModelCall
from verdicts.session_number import SessionNumber


class Status(models.TextChoices):
    """Where an order stands. DESIGN's table says what each answers to a reader."""

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


# What a payment can still come to.
UNPAID = frozenset({Status.CREATED, Status.AWAITING, Status.EXPIRED, Status.PAYMENT_FAILED})


class Order(models.Model):
    """One purchase. The token names it to the outside before Stripe has named the session."""

    token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session_id = models.CharField(max_length=255, unique=True, null=True, blank=True)
    status = models.CharField(max_length=20, choices=Status, default=Status.CREATED)
    tier = models.CharField(max_length=8, choices=TIER_CHOICES)
    query = models.TextField()
    email = models.EmailField(max_length=320, blank=True)
    price_cents = models.PositiveIntegerField()
    currency = models.CharField(max_length=3)
    payment_intent = models.CharField(max_length=255, blank=True, db_index=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    refunded_cents = models.PositiveIntegerField(default=0)
    refunded_at = models.DateTimeField(null=True, blank=True)
    # Model calls begun for the original; counted before each call, so that a
    # call that kills its worker counts as well.
    attempts = models.PositiveSmallIntegerField(default=0)
    # While it is to be judged: when its job should have run, or until when whoever
    # is at it holds it. Past that, anybody may take it over.
    due_at = models.DateTimeField(null=True, blank=True)
    # When Stripe was last asked about it while it was unpaid here (R10).
    reread_at = models.DateTimeField(null=True, blank=True)
    # The model that was gone when this order was last tried (R16).
    retired_model = models.CharField(max_length=100, blank=True)
    # The last regeneration: when it was begun, by the database's clock, how many there
    # were, and until when whoever is at it holds it (R5, R6).
    regen_at = models.DateTimeField(null=True, blank=True)
    regens = models.PositiveIntegerField(default=0)
    regen_until = models.DateTimeField(null=True, blank=True)
    # The number of the authorized fresh generation, if there was one (R15).
    authorization = models.PositiveSmallIntegerField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True, help_text="why held, rejected or failed")
    # Cached answers given, and when last: counted in batches, a few seconds late.
    hits = models.PositiveIntegerField(default=0)
    last_read_at = models.DateTimeField(null=True, blank=True)
    # Set by `manage.py smoke_test` before it pays, and by nobody else, least of all a customer.
    smoke = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # What the sweep looks for: paid for, and not done with.
            models.Index(
                "due_at",
                name="order_unfinished",
                condition=Q(status__in=[Status.PAID, Status.GENERATING]),
            ),
            models.Index("paid_at", "tier", "status", "smoke", name="order_day"),
            # What staff look for: whom it belongs to, however it was typed, and by filter.
            models.Index(Lower("email"), name="order_email_lower"),
            models.Index("status", "id", name="order_status"),
            models.Index("tier", "id", name="order_tier"),
            models.Index("id", name="order_smoke", condition=Q(smoke=True)),
        ]

    def __str__(self) -> str:
        return f"order {self.pk} ({self.tier}, {self.status})"

    @property
    def tier_name(self) -> TierName:
        """The tier, as the pure modules type it."""
        return cast("TierName", self.tier)

    def move(self, sources: Collection[str], target: str, **changes: Any) -> bool:
        """Compare-and-swap: to `target` if it still is in one of `sources`. False: it is not."""
        moved = Order.objects.filter(pk=self.pk, status__in=sources).update(
            status=target, **changes
        )
        if moved:
            self.refresh_from_db()
        return bool(moved)


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


class Verdict(models.Model):
    """An approved verdict. There is no way to store another kind: see services.generate."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="verdicts")
    kind = models.CharField(max_length=8, choices=KINDS)
    label = models.CharField(max_length=7, choices=LABEL_CHOICES)
    payload = models.JSONField()  # {} once it was erased; the label stays
    # What a customer reads under it, so that it can be found by that.
    fingerprint = models.CharField(max_length=12, blank=True, db_index=True, editable=False)
    call = models.OneToOneField(ModelCall, on_delete=models.PROTECT, null=True)
    crosscheck = models.OneToOneField(CrosscheckLog, on_delete=models.PROTECT)
    # Of a regeneration that is still to be compared: when its job should have run.
    compare_due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                "compare_due_at",
                name="verdict_uncompared",
                condition=Q(compare_due_at__isnull=False),
            ),
            # What staff filter by: some labels are rare.
            models.Index("label", "id", name="verdict_label"),
            models.Index("created_at", name="verdict_day"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                "order", name="one_original_per_order", condition=Q(kind="original")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.label} of order {self.order_id}"


class CachedVerdict(models.Model):
    """The ready-made answer for a session. `expires_at` is Unix seconds; null: never.

    `approved` is the gate's decision on the verdict: an entry without it is as
    good as absent (C17).
    """

    id = SessionNumber()
    session_id = models.CharField(max_length=255)
    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT)
    approved = models.BooleanField(default=False)
    body = models.TextField()
    etag = models.CharField(max_length=64)
    expires_at = models.BigIntegerField(null=True)
    cached_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["session_id"], name="one_answer_per_session"),
        ]

    def __str__(self) -> str:
        return f"cached verdict {self.verdict_id}"


class QueuePulse(models.Model):
    """When a job was last taken from a queue: how a stuck pool of workers is noticed."""

    queue = models.CharField(max_length=20, primary_key=True)
    moved_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.queue} moved at {self.moved_at}"

    @classmethod
    def beat(cls, queue: str) -> None:
        now = timezone.now()
        if not cls.objects.filter(queue=queue).update(moved_at=now):
            cls.objects.get_or_create(queue=queue, defaults={"moved_at": now})


class Reconciled(models.Model):
    """When Stripe's books were last compared with ours to their end, and mended: one row."""

    ONLY = 1

    looked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"reconciled at {self.looked_at}"


class Reads(models.Model):
    """What a web process has counted, until the sweep adds it to orders and days."""

    verdicts = models.JSONField(default=dict, help_text="answers from the cache, by verdict")
    others = models.JSONField(default=dict, help_text="reads without one, by what came of them")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "reads"

    def __str__(self) -> str:
        return f"reads {self.pk}"


class Lookups(models.Model):
    """How often an address had us ask Stripe about sessions we do not know, this minute (R10)."""

    address = models.CharField(max_length=64, primary_key=True)  # hashed: it is personal
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.count} lookups"


class Delivery(models.Model):
    """One email that is owed to somebody, under one Message-ID for all its attempts."""

    class Kind(models.TextChoices):
        VERDICT = "verdict", "verdict"
        HELD_BACK = "held_back", "held back"
        REFUND = "refund", "refund"
        STAFF = "staff", "to staff"
        RETIRED = "retired", "model retired, to staff"
        DIVERGENCE = "divergence", "divergence notice"
        ESCALATION = "escalation", "variance above the line, to staff"
        UNRECONCILED = "unreconciled", "Stripe's books out of reach, to staff"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        SENDING = "sending", "sending"
        SENT = "sent", "sent"
        FAILED = "failed", "failed"
        UNCERTAIN = "uncertain", "sent or not, nobody can tell"

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="deliveries")
    kind = models.CharField(max_length=20, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    # Owed once by this, however often and wherever to the site moves; the Message-ID of
    # what was begun stays as it was.
    name = models.CharField(max_length=255, editable=False)
    message_id = models.CharField(max_length=255, unique=True)
    about = models.CharField(max_length=200, blank=True, help_text="what the order does not say")
    # The regeneration that a divergence notice is about.
    regen = models.ForeignKey(Verdict, on_delete=models.PROTECT, null=True, blank=True)
    # What was emailed is the authoritative original: its label, and a digest of
    # the body, so that anybody can see whether two texts are the same.
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
            # Whole: SQLite uses an index of some rows only where the query names no values.
            models.Index("state", "id", name="delivery_state"),
            models.Index("kind", "id", name="delivery_kind"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Not by `unique`, for which PostgreSQL would get a second index.
            models.UniqueConstraint(fields=["name"], name="one_email_per_name"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} email of order {self.order_id}: {self.state}"


class Case(models.Model):
    """Something that needs a person. Opened with the state that asks for one."""

    class Kind(models.TextChoices):
        REJECTED = "rejected", "rejected by the gate"
        FAILED = "failed", "order failed"
        HELD = "held", "payment held"
        EMAIL = "email", "email not sent"

    class Outcome(models.TextChoices):
        REFUNDED = "refunded", "refunded"
        CONTACTED = "contacted", "customer contacted"
        AUTHORIZED = "authorized", "fresh generation authorized"
        CORRECT = "correct", "closed: rightly so"
        FALSE = "false", "closed: should have passed"
        RELEASED = "released", "payment accepted"
        RESENT = "resent", "email sent again"

    kind = models.CharField(max_length=10, choices=Kind)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="cases")
    crosscheck = models.OneToOneField(
        CrosscheckLog, on_delete=models.PROTECT, null=True, blank=True, related_name="case"
    )
    delivery = models.ForeignKey(
        Delivery, on_delete=models.PROTECT, null=True, blank=True, related_name="cases"
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    # Who is at it, and until when nobody else should be.
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    note = models.CharField(max_length=500, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        permissions = (
            ("refund_order", "Can pay a customer back"),
            ("authorize_generation", "Can authorize one fresh generation (NOUS)"),
            ("view_customer", "Can read customers' queries, verdicts and addresses"),
        )
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                "delivery", name="one_open_case_per_email", condition=Q(closed_at=None)
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # As small as what is open, however many were ever closed.
            models.Index("kind", "opened_at", name="case_open", condition=Q(closed_at=None)),
            models.Index("closed_at", name="case_closed", condition=Q(closed_at__isnull=False)),
            # Of those, whatever staff filter for: written when a person closes one.
            *(
                models.Index(
                    by, "closed_at", name=f"case_closed_{by}", condition=Q(closed_at__isnull=False)
                )
                for by in ("kind", "outcome")
            ),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}: {self.kind}"

    @property
    def is_decided(self) -> bool:
        """Nothing more comes of it. A customer who was written to may still answer."""
        return self.closed_at is not None and self.outcome != self.Outcome.CONTACTED
