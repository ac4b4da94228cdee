"""A paid order becomes a delivered verdict, a rejection or a failure: exactly one of them.

The job may run twice, in two places, or die half-way. The order is claimed
before the model is asked and the attempt counted with the claim; whoever
finishes must still hold that very attempt.
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
# Longer than a generation can take, so that nobody takes over from the living.
LEASE: Final = timedelta(seconds=90)
# From a hiccup to an outage of an afternoon: five hours in all.
BACKOFF: Final = (2, 10, 60, 300, 900, 3_600, 14_400)
# A model that is gone is looked for again this often, even if nobody changes the setting.
RETIRED_FOR: Final = timedelta(hours=1)


def fulfil(order_id: int, *, model: str, ask: Generate) -> Verdict | None:
    """Generate, gate, store and post. None: nothing to do, or no verdict came of it."""
    apply_pending_refunds(order_id)
    order = _claim(order_id)
    if order is None:
        return None
    try:
        judged = generate(order, "original", model=model, ask=ask)
    except ModelError as error:
        _without_answer(order, model, error)
        return None
    with transaction.atomic():
        # Our claim may have run out, the order be delivered by another, and erased since.
        row = judged.as_of(order.lock()).record()
        if judged.decision.approved:
            return _approve(order, judged, row)
        _finish(order, Status.REJECTED, judged.decision.crosscheck_reason, crosscheck=row)
    return None


def _claim(order_id: int) -> Order | None:
    """The order, if it is ours to try now. Counts the attempt before any call is made."""
    now = timezone.now()
    free = queue.is_due(status=Status.PAID) | Q(status=Status.GENERATING, due_at__lt=now)
    mine = Order.objects.filter(free, pk=order_id)
    if mine.filter(attempts__lt=MAX_ATTEMPTS, refunded_at=None).update(
        status=Status.GENERATING,
        attempts=F("attempts") + 1,
        due_at=now + LEASE,
        retired_model="",
    ):
        return Order.objects.get(pk=order_id)
    ended = mine.filter(Q(attempts__gte=MAX_ATTEMPTS) | Q(refunded_at__isnull=False)).first()
    if ended:
        with transaction.atomic():
            _finish(ended, Status.FAILED, "the last attempt never came back")
    return None


def _approve(order: Order, judged: Judged, row: CrosscheckLog) -> Verdict | None:
    still_owed = _claimed(order).filter(refunded_at=None)
    if not still_owed.update(status=Status.DELIVERED, due_at=None, reason=""):
        # Our claim ran out and somebody else has finished; or the money is back.
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
    """No verdict will come: the customer is told that it was held back, staff why (R18).

    Who has the money back is owed neither a verdict nor an explanation.
    """
    ended = {"status": status, "due_at": None, "reason": reason[:200]}
    mine = _claimed(order)
    if mine.filter(refunded_at__isnull=False).update(
        **{**ended, "status": Status.FAILED, "reason": REFUNDED_EARLY}
    ):
        return
    if not only_refunded and mine.update(**ended):
        # Told once per generation: a second one was authorized by a person (R15).
        name = f"{order.token.hex}.{order.authorization}" if order.authorization else ""
        enqueue_email(order, Delivery.Kind.HELD_BACK, name=name)
        kind = Case.Kind.REJECTED if crosscheck else Case.Kind.FAILED
        if open_case(order, kind, crosscheck=crosscheck):
            enqueue_email(order, Delivery.Kind.STAFF, name=name)


def _without_answer(order: Order, model: str, error: ModelError) -> None:
    logger.warning("no answer to order %s: %s", order.pk, error)
    now = timezone.now()
    with transaction.atomic():
        if isinstance(error, ModelRetired):
            # Nothing is wrong with the order: it stays paid, the attempt does not
            # count, and the sweep takes it up once the setting names another model.
            _claimed(order).update(
                status=Status.PAID,
                due_at=now + RETIRED_FOR,
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
    """The order, if nobody has taken it over since we claimed this attempt."""
    return Order.objects.filter(
        pk=order.pk,
        status__in=(Status.GENERATING, Status.PAID),
        attempts=order.attempts,
        authorization=order.authorization,  # which counts its attempts from the beginning
    )
