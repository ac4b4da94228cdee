"""Cases that need a member of staff."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import CrosscheckLog
from verdicts.models.mail import Delivery
from verdicts.models.orders import Order


class Case(models.Model):
    """Something that needs a member of staff. Opened in the transaction that causes it."""

    class Kind(models.TextChoices):
        REJECTED = "rejected", "rejected by the gate"
        FAILED = "failed", "order failed"
        HELD = "held", "payment held"
        EMAIL = "email", "email not sent"

    class Outcome(models.TextChoices):
        REFUNDED = "refunded", "refunded"
        CONTACTED = "contacted", "customer contacted"
        AUTHORIZED = "authorized", "fresh generation authorized"
        CORRECT = "correct", "closed: rightly rejected"
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
    # Who works on it, and when that lease expires.
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
            # Partial: as small as the number of open cases.
            models.Index("kind", "opened_at", name="case_open", condition=Q(closed_at=None)),
            models.Index("closed_at", name="case_closed", condition=Q(closed_at__isnull=False)),
            # For the console's filters of closed cases.
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
        """Whether it is final. A customer who was contacted may still answer."""
        return self.closed_at is not None and self.outcome != self.Outcome.CONTACTED
