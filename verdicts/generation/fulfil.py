"""Fulfils a paid order: it becomes delivered, rejected or failed, exactly one of them.

The job may run twice, on two hosts, or die half-way (at-least-once delivery). The order is
claimed with a lease before the model is called, and the attempt is counted with the claim; a
worker can finish only the attempt that it still holds.
"""

import logging
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from audit.models import CrosscheckLog
from verdicts.core.errors import ModelError, ModelRefused, ModelRetired
from verdicts.generation.generate import Generate, Judged, generate
from verdicts.jobs import queue
from verdicts.mail.alerts import alert_model_retired
from verdicts.mail.outbox import enqueue_email
from verdicts.models import Case, Delivery, Order, Status, Verdict
from verdicts.payments.events import apply_pending_refunds
from verdicts.payments.refunds import REFUNDED_EARLY
from verdicts.results import cache
from verdicts.review.cases import open_case

logger = logging.getLogger(__name__)

MAX_ATTEMPTS: Final = 8
# Longer than a generation can take, so that no worker takes over from a live one.
LEASE: Final = timedelta(seconds=90)
# Seconds after each failed attempt; five hours in all.
BACKOFF: Final = (2, 10, 60, 300, 900, 3_600, 14_400)
# How often a retired model is tried again, if the setting is not changed before.
RETIRED_RETRY_DELAY: Final = timedelta(hours=1)


def fulfil(order_id: int, *, model: str, ask: Generate) -> Verdict | None:
    """Generate, gate, store, cache and enqueue the email. None: no verdict came of it."""
    apply_pending_refunds(order_id)
    order = _claim(order_id)
    if order is None:
        return None
    try:
        judged = generate(order, "original", model=model, ask=ask)
    except ModelError as error:
        _retry_or_fail(order, model, error)
        return None
    with transaction.atomic():
        # The lease may have expired, and the order been delivered or erased since.
        row = judged.record(order.lock())
        if judged.decision.approved:
            return _approve(order, judged, row)
        _finish(order, Status.REJECTED, judged.decision.crosscheck_reason, crosscheck=row)
    return None


def _claim(order_id: int) -> Order | None:
    """The order, if it is due and free. Counts the attempt before the model is called."""
    now = timezone.now()
    free = queue.is_due(status=Status.PAID) | Q(status=Status.GENERATING, due_at__lt=now)
    due = Order.objects.filter(free, pk=order_id)
    if due.filter(attempts__lt=MAX_ATTEMPTS, refunded_at=None).update(
        status=Status.GENERATING,
        attempts=F("attempts") + 1,
        due_at=now + LEASE,
        retired_model="",
    ):
        return Order.objects.get(pk=order_id)
    ended = due.filter(Q(attempts__gte=MAX_ATTEMPTS) | Q(refunded_at__isnull=False)).first()
    if ended:
        with transaction.atomic():
            _finish(ended, Status.FAILED, "the last attempt did not return")
    return None


def _approve(order: Order, judged: Judged, row: CrosscheckLog) -> Verdict | None:
    still_owed = _claimed(order).filter(refunded_at=None)
    if not still_owed.update(status=Status.DELIVERED, due_at=None, reason=""):
        # The lease expired and another worker has finished; or the order was refunded.
        _finish(order, Status.FAILED, REFUNDED_EARLY, only_refunded=True)
        return None
    verdict = judged.store(row)
    cache.put(order, verdict, None)
    enqueue_email(order, Delivery.Kind.VERDICT)
    return verdict


def _finish(
    order: Order,
    status: Status,
    reason: str,
    *,
    crosscheck: CrosscheckLog | None = None,
    only_refunded: bool = False,
) -> None:
    """End without a verdict: the customer is told that it was held back, staff why (R18).

    A refunded order ends without these emails.
    """
    ended = {"status": status, "due_at": None, "reason": reason[:200]}
    claimed = _claimed(order)
    if claimed.filter(refunded_at__isnull=False).update(
        **{**ended, "status": Status.FAILED, "reason": REFUNDED_EARLY}
    ):
        return
    if not only_refunded and claimed.update(**ended):
        # One email per generation: a second generation was authorized by staff (R15).
        name = f"{order.token.hex}.{order.authorization}" if order.authorization else ""
        enqueue_email(order, Delivery.Kind.HELD_BACK, name=name)
        kind = Case.Kind.REJECTED if crosscheck else Case.Kind.FAILED
        if open_case(order, kind, crosscheck=crosscheck):
            enqueue_email(order, Delivery.Kind.STAFF, name=name)


def _retry_or_fail(order: Order, model: str, error: ModelError) -> None:
    logger.warning("no answer to order %s: %s", order.pk, error)
    now = timezone.now()
    with transaction.atomic():
        if isinstance(error, ModelRetired):
            # Not the order's fault: it stays paid, the attempt does not count, and the sweep
            # queues it again once the setting names another model.
            _claimed(order).update(
                status=Status.PAID,
                due_at=now + RETIRED_RETRY_DELAY,
                attempts=F("attempts") - 1,
                retired_model=model,
                reason=str(error)[:200],
            )
            alert_model_retired(order, model)
        elif isinstance(error, ModelRefused) or order.attempts >= MAX_ATTEMPTS:
            _finish(order, Status.FAILED, str(error))
        else:
            delay = BACKOFF[order.attempts - 1]
            if _claimed(order).update(
                status=Status.PAID,
                due_at=now + timedelta(seconds=delay),
                reason=str(error)[:200],
            ):
                queue.enqueue(queue.FULFIL, order.pk, delay=delay)


def _claimed(order: Order) -> QuerySet[Order]:
    """The order, if this worker still holds the attempt that it claimed."""
    return Order.objects.filter(
        pk=order.pk,
        status__in=(Status.GENERATING, Status.PAID),
        attempts=order.attempts,
        authorization=order.authorization,  # each counts its attempts from zero
    )
