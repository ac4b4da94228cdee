"""Emails that are owed: each under one Message-ID, however often it has to be tried.

Claimed before the call, marked after it. A crash or a time-out in between
leaves it unknown whether the server took the message; it is then sent again
with the same Message-ID, so that a mailbox can tell (R13).
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from verdicts import queue
from verdicts.core.errors import MailError
from verdicts.models import Delivery, Order
from verdicts.services.letters import TO_STAFF, Letter, compose

logger = logging.getLogger(__name__)

# The gateway, as the caller passes it in.
Send = Callable[[Letter], None]

MOST_ATTEMPTS: Final = 8
LEASE: Final = timedelta(seconds=60)
# From a hiccup to an afternoon: five hours in all.
BACKOFF: Final = (1, 5, 30, 120, 600, 3_600, 14_400)


def owe(order: Order, kind: Delivery.Kind, *, name: str = "", about: str = "") -> None:
    """Put an email on the way, once per `name`, which is the order's unless it is given.

    `about` is kept with it, for what the order itself does not say.
    """
    delivery, new = Delivery.objects.get_or_create(
        message_id=f"<{kind}.{name or order.token.hex}@{urlsplit(settings.SITE_URL).hostname}>",
        defaults={"order": order, "kind": kind, "due_at": timezone.now(), "about": about[:200]},
    )
    if new:
        queue.enqueue(queue.DELIVER, delivery.pk)


def deliver(delivery_id: int, *, send: Send) -> Delivery | None:
    """Send it, if it is still owed and nobody else is at it."""
    delivery = _claim(delivery_id)
    if delivery is None:
        return None
    letter = compose(delivery)
    if not letter.to:
        _give_up(delivery, "nobody to send it to")
        return None
    try:
        send(letter)
    except MailError as error:
        _again(delivery, error)
        return None
    _mark(
        delivery,
        state=Delivery.State.SENT,
        sent_at=timezone.now(),
        emailed_label=letter.label,
        body_sha256=sha256(letter.text.encode()).hexdigest(),
        error="",
    )
    return delivery


def _claim(delivery_id: int) -> Delivery | None:
    now = timezone.now()
    free = Q(state=Delivery.State.PENDING) | Q(state=Delivery.State.SENDING, due_at__lt=now)
    mine = Delivery.objects.select_related("order").filter(free, pk=delivery_id)
    if mine.filter(attempts__lt=MOST_ATTEMPTS).update(
        state=Delivery.State.SENDING, attempts=F("attempts") + 1, due_at=now + LEASE
    ):
        return Delivery.objects.select_related("order").get(pk=delivery_id)
    exhausted = mine.filter(attempts__gte=MOST_ATTEMPTS).first()
    if exhausted:  # the last attempt took its worker down with it
        _give_up(exhausted, "the last attempt never came back")
    return None


def _again(delivery: Delivery, error: MailError) -> None:
    logger.warning("delivery %s, attempt %s: %s", delivery.pk, delivery.attempts, error)
    if delivery.attempts >= MOST_ATTEMPTS:
        _give_up(delivery, str(error))
        return
    asked_for = min(getattr(error, "retry_after", 0), BACKOFF[-1])
    delay = max(BACKOFF[delivery.attempts - 1], asked_for)
    due_at = timezone.now() + timedelta(seconds=delay)
    with transaction.atomic():
        _mark(delivery, state=Delivery.State.PENDING, error=str(error)[:200], due_at=due_at)
        queue.enqueue(queue.DELIVER, delivery.pk, delay=delay)


def _give_up(delivery: Delivery, why: str) -> None:
    """Failed, and visible; a customer who waits for it is staff's business now."""
    logger.error("delivery %s (%s) failed: %s", delivery.pk, delivery.kind, why)
    unfinished = [Delivery.State.PENDING, Delivery.State.SENDING]
    with transaction.atomic():
        given_up = Delivery.objects.filter(
            pk=delivery.pk, state__in=unfinished, attempts=delivery.attempts
        ).update(state=Delivery.State.FAILED, due_at=None, error=why[:200])
        if given_up and delivery.kind not in TO_STAFF:
            about = f"the {delivery.kind} email could not be sent: {why}"
            owe(delivery.order, Delivery.Kind.STAFF, name=f"undelivered.{delivery.pk}", about=about)


def _mark(delivery: Delivery, *, due_at: datetime | None = None, **changes: Any) -> None:
    """Only while the claim is ours: a late answer must not undo what came after it."""
    Delivery.objects.filter(
        pk=delivery.pk, state=Delivery.State.SENDING, attempts=delivery.attempts
    ).update(due_at=due_at, **changes)
