"""Emails that are owed: each under one Message-ID, however often it has to be tried.

Claimed before the call, marked after it. A crash or a time-out in between
leaves it unknown whether the server took the message: what a customer paid for
is then sent again with the same Message-ID, so that a mailbox can tell; a
divergence notice becomes `uncertain`, for staff to see (R13).
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
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
from verdicts.mail.messages import TO_STAFF, Message, compose
from verdicts.models import Case, Delivery, Order, Status, Verdict
from verdicts.review.cases import open_case

logger = logging.getLogger(__name__)

State = Delivery.State
_WORDS: Final = {
    State.FAILED: "could not be sent",
    State.UNCERTAIN: "may or may not have been sent",
}

# They hang on an order, and say nothing of its customer.
OPERATIONAL_KINDS: Final = (
    Delivery.Kind.RETIRED,
    Delivery.Kind.ESCALATION,
    Delivery.Kind.UNRECONCILED,
)
# A smoke test's emails are in no figure; what is true of the house is, whoever found out.
IN_FIGURES: Final = Q(order__smoke=False) | Q(kind__in=OPERATIONAL_KINDS)

# The gateway, as the caller passes it in.
Send = Callable[[Message], None]

LEASE: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long an email is tried for: seconds after each attempt but the last."""

    waits: tuple[int, ...]
    sends_again: bool  # where nobody can tell whether it was sent

    @property
    def attempts(self) -> int:
        return len(self.waits) + 1


# From a hiccup to an afternoon: five hours in all.
BACKOFF_5_HOURS: Final = RetryPolicy((1, 5, 30, 120, 600, 3_600, 14_400), sends_again=True)
ONE_RETRY: Final = RetryPolicy((60,), sends_again=False)


def retry_policy(kind: str) -> RetryPolicy:
    return ONE_RETRY if kind == Delivery.Kind.DIVERGENCE else BACKOFF_5_HOURS


def enqueue_email(
    order: Order,
    kind: Delivery.Kind,
    *,
    name: str = "",
    about: str = "",
    regen: Verdict | None = None,
) -> Delivery:
    """Put an email on the way, once per `name`, which is the order's unless it is given.

    `about` and `regen` are kept with it, for what the order itself does not say.
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
    """Owe it again where it was given up; under the same Message-ID, as ever.

    `even_uncertain`: a person has decided that it may arrive twice (R13).
    """
    ended = [State.FAILED, State.UNCERTAIN] if even_uncertain else [State.FAILED]
    return bool(
        Delivery.objects.filter(pk=delivery.pk, state__in=ended).update(
            state=State.PENDING, attempts=0, due_at=timezone.now()
        )
    )


def deliver(delivery_id: int, *, send: Send) -> Delivery | None:
    """Send it, if it is still owed and nobody else is at it."""
    delivery = _claim(delivery_id)
    if delivery is None:
        return None
    message = compose(delivery)
    if not message.to:
        _give_up(delivery, "nobody to send it to", State.FAILED)
        return None
    if not _claimed(delivery).exists():
        return None  # we were held up, and meanwhile it was taken over, or the order erased
    try:
        send(message)
    except MailError as error:
        _again(delivery, error)
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
    """Whether somebody is at an email about its customer just now."""
    sending = order.deliveries.filter(state=State.SENDING, due_at__gt=timezone.now())
    return sending.exclude(kind__in=OPERATIONAL_KINDS).exists()


@transaction.atomic
def _claim(delivery_id: int) -> Delivery | None:
    # With the order held, an erasure comes before the claim, or sees that it is being sent.
    Order.objects.select_for_update(no_key=True, of=("self",)).get(deliveries=delivery_id)
    now = timezone.now()
    one = Delivery.objects.select_related("order").filter(pk=delivery_id)
    if stop_erased(one):
        return None
    has = retry_policy(one.values_list("kind", flat=True).get())
    waiting = queue.is_due(state=State.PENDING)
    abandoned = Q(state=State.SENDING, due_at__lt=now)
    free = waiting | abandoned if has.sends_again else waiting
    if one.filter(free, attempts__lt=has.attempts).update(
        state=State.SENDING, attempts=F("attempts") + 1, due_at=now + LEASE
    ):
        return one.get()
    # An attempt that took its worker down with it, and is not to be repeated.
    fewest = has.attempts if has.sends_again else 1
    lost = one.filter(abandoned, attempts__gte=fewest).first()
    if lost:
        end = State.FAILED if has.sends_again else State.UNCERTAIN
        _give_up(lost, "the last attempt never came back", end)
    return None


def stop_erased(deliveries: QuerySet[Delivery]) -> int:
    """What is owed for an erased order is sent to nobody; what staff are told of the house is."""
    return (
        deliveries.filter(order__status=Status.ERASED, state__in=[State.PENDING, State.SENDING])
        .exclude(kind__in=OPERATIONAL_KINDS)
        .update(state=State.FAILED, due_at=None, error="the order was erased")
    )


def _again(delivery: Delivery, error: MailError) -> None:
    logger.warning("delivery %s, attempt %s: %s", delivery.pk, delivery.attempts, error)
    has = retry_policy(delivery.kind)
    unknown = isinstance(error, MailUncertain) and not has.sends_again
    if unknown or delivery.attempts >= has.attempts:
        _give_up(delivery, str(error), State.UNCERTAIN if unknown else State.FAILED)
        return
    delay = has.waits[delivery.attempts - 1]
    if has.sends_again:  # a notice has its hour: exactly one retry, exactly then
        delay = max(delay, min(getattr(error, "retry_after", 0), has.waits[-1]))
    due_at = timezone.now() + timedelta(seconds=delay)
    with transaction.atomic():
        _mark(delivery, state=State.PENDING, error=str(error)[:200], due_at=due_at)
        queue.enqueue(queue.DELIVER, delivery.pk, delay=delay)


def _give_up(delivery: Delivery, why: str, end: Delivery.State) -> None:
    """It has come to its end, visibly; a customer who waits for it is staff's business now."""
    logger.error("delivery %s (%s) is %s: %s", delivery.pk, delivery.kind, end, why)
    with transaction.atomic():
        given_up = Delivery.objects.filter(
            pk=delivery.pk, state__in=[State.PENDING, State.SENDING], attempts=delivery.attempts
        ).update(state=end, due_at=None, error=why[:200])
        if given_up:
            _count(delivery, end)
        if given_up and delivery.kind not in TO_STAFF:
            about = f"the {delivery.kind} email {_WORDS[end]}: {why}"
            case = open_case(delivery.order, Case.Kind.EMAIL, delivery=delivery)
            if case:
                enqueue_email(
                    delivery.order, Delivery.Kind.STAFF, name=f"case.{case.pk}", about=about
                )


def _mark(delivery: Delivery, *, due_at: datetime | None = None, **changes: Any) -> None:
    """Only while the claim is ours: a late answer must not undo what came after it."""
    with transaction.atomic():
        if _claimed(delivery).update(due_at=due_at, **changes) and changes["state"] == State.SENT:
            _count(delivery, State.SENT)


def _claimed(delivery: Delivery) -> QuerySet[Delivery]:
    """The email, if nobody has taken it from us since we claimed this attempt."""
    return Delivery.objects.filter(pk=delivery.pk, state=State.SENDING, attempts=delivery.attempts)


def _count(delivery: Delivery, end: Delivery.State) -> None:
    if delivery.order.smoke and delivery.kind not in OPERATIONAL_KINDS:  # as IN_FIGURES has it
        return
    DayCount.add(timezone.now().date(), DayCount.EMAIL, key=f"{delivery.kind} {end.value}")
