"""What operators are told by email, once a day at most, however often it happens."""

from collections.abc import Mapping

from django.utils import timezone

from verdicts.mail.outbox import enqueue_email
from verdicts.models import Delivery, Order


def alert_model_retired(order: Order, model: str) -> None:
    """The model no longer answers (R16); `order` is the one that found out."""
    today = f"{timezone.now():%Y-%m-%d}"
    enqueue_email(order, Delivery.Kind.RETIRED, name=f"{model}.{today}", about=model)


def alert_unreconciled(why: str) -> None:
    """Stripe's books are out of reach for long."""
    _alert_reconciliation("", f"For hours no look at Stripe's books has come to its end: {why}")


def alert_discrepancies(kinds: Mapping[str, int]) -> None:
    """Gaps are left that only a person can mend, and no case tells of them."""
    listed = ", ".join(f"{kind} ({count})" for kind, count in sorted(kinds.items()))
    _alert_reconciliation("gaps.", f"Gaps are left for a person: {listed}")


def _alert_reconciliation(name: str, about: str) -> None:
    """It hangs on the last order, and is not about it."""
    order = Order.objects.order_by("-pk").first()
    if order:  # else nobody has bought anything yet
        today = f"{timezone.now():%Y-%m-%d}"
        enqueue_email(order, Delivery.Kind.UNRECONCILED, name=f"{name}{today}", about=about)
