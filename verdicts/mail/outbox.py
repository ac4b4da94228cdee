"""The outbox: every email is a row with one Message-ID for all its attempts.

A row is claimed (with a lease) before the call and marked after it. If the worker dies or the
server does not answer, it is unknown whether the message was accepted: what a customer paid for
is then sent again with the same Message-ID, which mailboxes deduplicate; a divergence notice
becomes `uncertain`, for staff to see (R13).
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from audit.models import DayCount
from verdicts.core.errors import MailError, MailUncertain
from verdicts.jobs import queue
from verdicts.mail.client import Message
from verdicts.mail.kinds import KINDS, OPERATIONAL_KINDS, TO_CUSTOMERS, RetryPolicy
from verdicts.mail.messages import compose
from verdicts.models import Case, Delivery, Order, Status, Verdict
from verdicts.review.cases import open_case

logger = logging.getLogger(__name__)

State = Delivery.State
_END_TEXTS: Final = {
    State.FAILED: "could not be sent",
    State.UNCERTAIN: "may or may not have been sent",
}

# The mail client, as the caller passes it in.
Send = Callable[[Message], None]

LEASE: Final = timedelta(seconds=60)


def enqueue_email(
    order: Order,
    kind: Delivery.Kind,
    *,
    name: str = "",
    about: str = "",
    regen: Verdict | None = None,
) -> Delivery:
    """Create the email and queue its job, once per `name` (by default one per order and kind).

    `about` and `regen` are stored with it: what the order itself does not say. Call inside the
    transaction of the state that the email reports.
    """
    name = f"{kind}.{name or order.token.hex}"
    delivery, new = Delivery.objects.get_or_create(
        name=name,
        defaults={
            "message_id": f"<{name}@{urlsplit(settings.SITE_URL).hostname}>",
            "order": order,
            "kind": kind,
            "due_at": timezone.now(),
            "about": about[:200],
            "regen": regen,
        },
    )
    if new:
        queue.enqueue(queue.DELIVER, delivery.pk)
    return delivery


def reopen(delivery: Delivery, *, even_uncertain: bool = False) -> bool:
    """Make a failed email pending again, under the same Message-ID.

    `even_uncertain`: a member of staff has decided that it may arrive twice (R13).
    """
    ended = [State.FAILED, State.UNCERTAIN] if even_uncertain else [State.FAILED]
    return bool(
        Delivery.objects.filter(pk=delivery.pk, state__in=ended).update(
            state=State.PENDING, attempts=0, due_at=timezone.now()
        )
    )


def deliver(delivery_id: int, *, send: Send) -> Delivery | None:
    """Send it, if it is pending and no other worker holds it."""
    delivery = _claim(delivery_id)
    if delivery is None:
        return None
    message = compose(delivery)
    if not message.to:
        _give_up(delivery, "no address to send it to", State.FAILED)
        return None
    if not _claimed(delivery).exists():
        return None  # this worker was paused: the lease was taken over, or the order erased
    try:
        send(message)
    except MailError as error:
        _retry(delivery, error)
        return None
    _mark(
        delivery,
        state=State.SENT,
        sent_at=timezone.now(),
        emailed_label=message.label,
        body_sha256=sha256(message.text.encode()).hexdigest(),
        error="",
    )
    return delivery


def is_being_sent(order: Order) -> bool:
    """Whether a worker is sending an email about its customer now."""
    sending = order.deliveries.filter(state=State.SENDING, due_at__gt=timezone.now())
    return sending.exclude(kind__in=OPERATIONAL_KINDS).exists()


@transaction.atomic
def _claim(delivery_id: int) -> Delivery | None:
    # With the order locked, an erasure comes before the claim, or sees that it is being sent.
    Order.objects.select_for_update(no_key=True, of=("self",)).get(deliveries=delivery_id)
    now = timezone.now()
    one = Delivery.objects.select_related("order").filter(pk=delivery_id)
    if stop_erased(one):
        return None
    retry = _retry_policy(one.values_list("kind", flat=True).get())
    waiting = queue.is_due(state=State.PENDING)
    abandoned = Q(state=State.SENDING, due_at__lt=now)
    free = waiting | abandoned if retry.resend_if_unknown else waiting
    if one.filter(free, attempts__lt=retry.max_attempts).update(
        state=State.SENDING, attempts=F("attempts") + 1, due_at=now + LEASE
    ):
        return one.get()
    # Its worker died during an attempt that must not be repeated.
    last = retry.max_attempts if retry.resend_if_unknown else 1
    lost = one.filter(abandoned, attempts__gte=last).first()
    if lost:
        end = State.FAILED if retry.resend_if_unknown else State.UNCERTAIN
        _give_up(lost, "the last attempt did not return", end)
    return None


def stop_erased(deliveries: QuerySet[Delivery]) -> int:
    """Pending emails of erased orders are not sent; those that concern the whole site are."""
    return (
        deliveries.filter(order__status=Status.ERASED, state__in=[State.PENDING, State.SENDING])
        .exclude(kind__in=OPERATIONAL_KINDS)
        .update(state=State.FAILED, due_at=None, error="the order was erased")
    )


def _retry_policy(kind: str) -> RetryPolicy:
    return KINDS[Delivery.Kind(kind)].retry


def _retry(delivery: Delivery, error: MailError) -> None:
    logger.warning("delivery %s, attempt %s: %s", delivery.pk, delivery.attempts, error)
    retry = _retry_policy(delivery.kind)
    unknown = isinstance(error, MailUncertain) and not retry.resend_if_unknown
    if unknown or delivery.attempts >= retry.max_attempts:
        _give_up(delivery, str(error), State.UNCERTAIN if unknown else State.FAILED)
        return
    delay = retry.delays[delivery.attempts - 1]
    if retry.resend_if_unknown:  # else: exactly one retry, exactly then (R13)
        delay = max(delay, min(getattr(error, "retry_after", 0), retry.delays[-1]))
    due_at = timezone.now() + timedelta(seconds=delay)
    with transaction.atomic():
        _mark(delivery, state=State.PENDING, error=str(error)[:200], due_at=due_at)
        queue.enqueue(queue.DELIVER, delivery.pk, delay=delay)


def _give_up(delivery: Delivery, why: str, end: Delivery.State) -> None:
    """End it, visibly: where a customer waits for it, a case is opened for staff."""
    logger.error("delivery %s (%s) is %s: %s", delivery.pk, delivery.kind, end, why)
    with transaction.atomic():
        given_up = Delivery.objects.filter(
            pk=delivery.pk, state__in=[State.PENDING, State.SENDING], attempts=delivery.attempts
        ).update(state=end, due_at=None, error=why[:200])
        if given_up:
            _count(delivery, end)
        if given_up and delivery.kind in TO_CUSTOMERS:
            about = f"the {delivery.kind} email {_END_TEXTS[end]}: {why}"
            case = open_case(delivery.order, Case.Kind.EMAIL, delivery=delivery)
            if case:
                enqueue_email(
                    delivery.order, Delivery.Kind.STAFF, name=f"case.{case.pk}", about=about
                )


def _mark(delivery: Delivery, *, due_at: datetime | None = None, **changes: Any) -> None:
    """Only while the lease is ours: a late answer must not undo what came after it."""
    with transaction.atomic():
        if _claimed(delivery).update(due_at=due_at, **changes) and changes["state"] == State.SENT:
            _count(delivery, State.SENT)


def _claimed(delivery: Delivery) -> QuerySet[Delivery]:
    """The email, if this worker still holds the attempt that it claimed."""
    return Delivery.objects.filter(pk=delivery.pk, state=State.SENDING, attempts=delivery.attempts)


def _count(delivery: Delivery, end: Delivery.State) -> None:
    if delivery.order.smoke and delivery.kind not in OPERATIONAL_KINDS:  # as COUNTED has it
        return
    DayCount.add(timezone.now().date(), DayCount.EMAIL, key=f"{delivery.kind} {end.value}")
