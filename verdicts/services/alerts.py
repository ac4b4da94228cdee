"""What operators are told by email, once a day at most, however often it happens."""

from django.utils import timezone

from verdicts.models import Delivery, Order
from verdicts.services.deliver import owe


def tell_retired(order: Order, model: str) -> None:
    """The model no longer answers (R16); `order` is the one that found out."""
    today = f"{timezone.now():%Y-%m-%d}"
    owe(order, Delivery.Kind.RETIRED, name=f"{model}.{today}", about=model)


def tell_unreconciled(why: str) -> None:
    """Stripe's books are out of reach for long; hangs on the last order, and is not about it."""
    order = Order.objects.order_by("-pk").first()
    if order:  # else nobody has bought anything yet
        today = f"{timezone.now():%Y-%m-%d}"
        owe(order, Delivery.Kind.UNRECONCILED, name=today, about=why)
