"""One fresh generation for one order (R15): by permission, with a reason, on record."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from audit.actions import record_action
from verdicts.jobs import queue
from verdicts.models import Order, Status


def authorize(order: Order, *, who: User, reason: str) -> bool:
    """Make it paid again, with a new number in its seed. False: not possible any more."""
    number = (order.authorization or 1) + 1
    with transaction.atomic():
        moved = Order.objects.filter(
            pk=order.pk,
            status__in=[Status.REJECTED, Status.FAILED],
            authorization=order.authorization,
            refunded_at=None,
        ).update(
            status=Status.PAID,
            authorization=number,
            attempts=0,
            due_at=timezone.now(),
            reason="",
        )
        if not moved:
            return False  # it has changed since, or was refunded
        record_action(
            session_id=order.session_id or "",
            action=f"authorize generation {number}",
            who=who.get_username(),
            reason=reason,
        )
        queue.enqueue(queue.FULFIL, order.pk)
    return True


def release(order: Order, *, who: User, reason: str) -> bool:
    """Accept a held payment as it is. False: it is not held any more, or has no query."""
    with transaction.atomic():
        held = Order.objects.filter(pk=order.pk, status=Status.HELD, refunded_at=None)
        if not order.query or not held.update(status=Status.PAID, due_at=timezone.now(), reason=""):
            return False
        record_action(
            session_id=order.session_id or "",
            action="release payment",
            who=who.get_username(),
            reason=reason,
        )
        queue.enqueue(queue.FULFIL, order.pk)
    return True
