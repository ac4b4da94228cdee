"""Approved verdicts, and the cached response of each session."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from audit.models import KINDS, LABEL_CHOICES, CrosscheckLog, ModelCall
from verdicts.models.orders import Order
from verdicts.models.session_number import SessionNumber


class Verdict(models.Model):
    """An approved verdict: only `Judged.store` in verdicts.generation.generate creates one."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="verdicts")
    kind = models.CharField(max_length=8, choices=KINDS)
    label = models.CharField(max_length=7, choices=LABEL_CHOICES)
    payload = models.JSONField()  # {} once it was erased; the label stays
    # Printed under the verdict, so that staff can find it by what a customer quotes.
    fingerprint = models.CharField(max_length=12, blank=True, db_index=True, editable=False)
    call = models.OneToOneField(ModelCall, on_delete=models.PROTECT, null=True)
    crosscheck = models.OneToOneField(CrosscheckLog, on_delete=models.PROTECT)
    # Of a regeneration that is not compared yet: when its job is due.
    compare_due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                "compare_due_at",
                name="verdict_uncompared",
                condition=Q(compare_due_at__isnull=False),
            ),
            # For the console's filters: some labels are rare.
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

    @classmethod
    def original_of(cls, order: Order) -> "Verdict | None":
        """The verdict that was stored for the email, where one is."""
        return cls.objects.select_related("call").filter(order=order, kind="original").first()


class CachedVerdict(models.Model):
    """The cached response of a session. `expires_at` is in Unix seconds; null: never.

    `approved` is the gate's decision on the verdict: an entry without it is treated as absent
    (C17).
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
