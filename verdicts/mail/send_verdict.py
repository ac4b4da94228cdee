"""The stored, approved verdict of a session is emailed now, once, if it has not been."""

from django.db import transaction
from django.utils import timezone

from verdicts.mail.outbox import Send, deliver, enqueue_email, reopen
from verdicts.models import Delivery, Order, Status, Verdict


def send_verdict(order: Order, *, send: Send) -> Delivery | None:
    """The email as it stands after this; None: nothing approved is stored to be sent.

    One that was tried and waits for its next turn is left to it: whoever asks again
    and again must not use up its attempts.
    """
    if order.status == Status.ERASED or Verdict.original_of(order) is None:
        return None
    with transaction.atomic():
        delivery = enqueue_email(order, Delivery.Kind.VERDICT)
        reopen(delivery)  # one that was given up is tried again, under its own Message-ID
    delivery.refresh_from_db()
    if not (delivery.attempts and delivery.due_at and delivery.due_at > timezone.now()):
        deliver(delivery.pk, send=send)
        delivery.refresh_from_db()
    return delivery
