"""Alerts to operators by email, each at most once a day."""

from collections.abc import Mapping

from django.utils import timezone

from verdicts.mail.outbox import enqueue_email
from verdicts.models import Delivery, Order


def alert_model_retired(order: Order, model: str) -> None:
    """The model no longer answers (R16); `order` is the one whose call showed it."""
    today = f"{timezone.now():%Y-%m-%d}"
    enqueue_email(order, Delivery.Kind.RETIRED, name=f"{model}.{today}", about=model)


def alert_unreconciled(why: str) -> None:
    """Reconciliation with Stripe has not completed for hours."""
    _alert_reconciliation("", f"Reconciliation with Stripe has not completed for hours: {why}")


def alert_discrepancies(kinds: Mapping[str, int]) -> None:
    """Discrepancies are left that only staff can repair, and that have no case."""
    listed = ", ".join(f"{kind} ({count})" for kind, count in sorted(kinds.items()))
    _alert_reconciliation("discrepancies.", f"Discrepancies left for staff: {listed}")


def _alert_reconciliation(name: str, about: str) -> None:
    """Stored with the newest order, which it is not about."""
    order = Order.objects.order_by("-pk").first()
    if order:  # else nothing was sold yet
        today = f"{timezone.now():%Y-%m-%d}"
        enqueue_email(order, Delivery.Kind.UNRECONCILED, name=f"{name}{today}", about=about)
