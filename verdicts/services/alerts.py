"""What operators are told by email, once a day at most, however often it happens."""

from django.utils import timezone

from verdicts.models import Delivery, Order
from verdicts.services.deliver import owe


def tell_retired(order: Order, model: str) -> None:
    """The model no longer answers (R16); `order` is the one that found out."""
    today = f"{timezone.now():%Y-%m-%d}"
    owe(order, Delivery.Kind.RETIRED, name=f"{model}.{today}", about=model)
