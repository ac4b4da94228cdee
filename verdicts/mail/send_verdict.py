"""Emails the stored, approved verdict of an order now, once, if it was not sent before."""

from django.db import transaction
from django.utils import timezone

from verdicts.mail.outbox import Send, deliver, enqueue_email, reopen
from verdicts.models import Delivery, Order, Status, Verdict


def send_verdict(order: Order, *, send: Send) -> Delivery | None:
    """The email after this call; None: no approved verdict is stored.

    An email that waits for its next retry is left alone: repeated calls must not use up its
    attempts.
    """
    if order.status == Status.ERASED or Verdict.original_of(order) is None:
        return None
    with transaction.atomic():
        delivery = enqueue_email(order, Delivery.Kind.VERDICT)
        reopen(delivery)  # a failed one is tried again, under the same Message-ID
    delivery.refresh_from_db()
    if not (delivery.attempts and delivery.due_at and delivery.due_at > timezone.now()):
        deliver(delivery.pk, send=send)
        delivery.refresh_from_db()
    return delivery
