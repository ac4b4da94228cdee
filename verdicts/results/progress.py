"""The progress of an order, in the four steps that its customer is shown."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from django.utils import timezone

from audit.models import ModelCall
from verdicts.models import Delivery, Order, Status

PAID, JUDGING, CHECKING, SENDING = range(4)
# Most verdicts are done by then: a customer who still waits is told what to do.
LONG: Final = timedelta(minutes=2)

# Customer-facing text.
_NOTES: Final = (
    ("Paid", "Once, on Stripe's page."),
    ("Judging", "The model weighs your idea."),
    ("Checking", "Our own checks decide whether the answer may leave the house."),
    ("Sending", "By email, and on this page."),
)


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    note: str
    state: Literal["done", "now", "later"]


def steps(reached: int) -> list[Step]:
    """The four steps, up to the one in progress."""
    return [
        Step(name, note, "done" if place < reached else "now" if place == reached else "later")
        for place, (name, note) in enumerate(_NOTES)
    ]


def reached(order: Order) -> int:
    """The current step of an order without a verdict."""
    if order.status == Status.AWAITING:
        return PAID
    if order.status != Status.GENERATING:
        return JUDGING
    # The model's answer is on record before the gate has decided on it.
    calls = ModelCall.objects.filter(session_id=order.session_id, kind="original")
    newest = calls.order_by("-pk").first()
    answered = newest is not None and newest.outcome == ModelCall.Outcome.ANSWERED
    return CHECKING if answered else JUDGING


def is_long(order: Order) -> bool:
    return order.paid_at is not None and order.paid_at < timezone.now() - LONG


def verdict_email(order_id: int) -> Delivery | None:
    return Delivery.objects.filter(order=order_id, kind=Delivery.Kind.VERDICT).first()


def on_its_way(email: Delivery | None) -> bool:
    return email is not None and email.state in (Delivery.State.PENDING, Delivery.State.SENDING)
