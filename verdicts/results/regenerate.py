"""A verdict that the cache has lost is made again, in the request that misses it.

One call per session, whoever asks: a slot of this process is taken first, then
the order is claimed by compare-and-swap (R6). A claim lasts five minutes by the
database's clock, whatever comes of it (R5), so that nobody can make us ask the
model without end. Only who meets a full quota while another reader of this process
waits for it gives the claim back, as if there had been no slot.
"""

import logging
import math
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from audit.core.vocabulary import UNKNOWN
from verdicts.core.disclaimer import Comparison
from verdicts.core.errors import ModelError, ModelFull, ModelRetired
from verdicts.core.read_outcomes import RETRY_SOON, Name
from verdicts.generation.client import waiting_for_quota
from verdicts.generation.generate import Generate, Judged, generate
from verdicts.http.concurrency_limit import Slots
from verdicts.jobs import queue
from verdicts.mail.alerts import alert_model_retired
from verdicts.models import CachedVerdict, Case, Order, Status, Verdict
from verdicts.results import cache
from verdicts.results.emailed_original import delivered_seed
from verdicts.results.outcome import Outcome
from verdicts.review.cases import open_case

logger = logging.getLogger(__name__)

WINDOW: Final = timedelta(minutes=5)
MINUTE: Final = timedelta(minutes=1)
# Longer than the deadline of the call: past it, whoever was at it is gone.
LEASE: Final = timedelta(seconds=35)

# Of this process: slow regenerations must not use up all threads that answer readers.
under_way = Slots()


def regenerate(order: Order, *, model: str, ask: Generate) -> Outcome:
    """The delivered order's verdict, made again; or why there is none now."""
    with under_way.take(of=settings.SERVING.regenerations) as free:
        if not free or waiting_for_quota.taken:
            return Outcome("regenerating", order, retry_after=RETRY_SOON)
        if not _claim(order):
            return _not_now(order)
        return _make(order, model=model, ask=ask)


def _make(order: Order, *, model: str, ask: Generate) -> Outcome:
    original = Verdict.original_of(order)
    emailed = original.label if original else cache.emailed_label(order)
    seed = delivered_seed(original)
    try:
        judged = generate(order, "regen", model=model, ask=ask, delivered_seed=seed)
    except ModelFull:
        return _step_back(order)
    except ModelError as error:
        return _without_answer(order, error, model=model, emailed=emailed)
    return _keep(order, judged, emailed)


def _step_back(order: Order) -> Outcome:
    """As without a free slot: nothing has begun, and no attempt counts."""
    _claimed(order).update(regen_at=None, regens=order.regens - 1, regen_until=None)
    return Outcome("regenerating", order, retry_after=RETRY_SOON)


def _without_answer(order: Order, error: ModelError, *, model: str, emailed: str) -> Outcome:
    logger.warning("no regeneration of order %s: %s", order.pk, error)
    _claimed(order).update(regen_until=None)
    name: Name = "try-later"
    if isinstance(error, ModelRetired):
        name = "model-retired"
        with transaction.atomic():
            alert_model_retired(order, model)
    return Outcome(name, order, emailed=emailed, retry_after=_wait(order))


def _keep(order: Order, judged: Judged, emailed: str) -> Outcome:
    """Record the decision; what was approved is stored, cached and to be compared, as one."""
    with transaction.atomic():
        # Holds the order's row, as the cache wants it; it may have changed while we asked.
        still_mine = _claimed(order).update(regen_until=None)
        order.refresh_from_db()
        row = judged.as_of(order).record()
        if not still_mine:
            return _lost(order)
        if not judged.decision.approved:
            if not order.cases.filter(crosscheck__kind="regen").exists():  # once is enough
                open_case(order, Case.Kind.REJECTED, crosscheck=row)
            return Outcome("rejected", order, emailed=emailed)
        verdict = judged.store(row)
        queue.enqueue(queue.COMPARE, verdict.pk)
        entry = cache.put(order, verdict, Comparison(emailed or UNKNOWN))
    return Outcome("verdict", order, entry=entry)


def _lost(order: Order) -> Outcome:
    """The order is not ours any more: erased, or taken over by somebody after a long pause."""
    if order.status == Status.ERASED:
        return Outcome("erased", order)
    return Outcome("regenerating", order, retry_after=RETRY_SOON)


def _claim(order: Order) -> bool:
    """Ours, if nobody has begun one in the last five minutes. The attempt counts from now."""
    free = Q(regen_at=None) | Q(regen_at__lt=Now() - WINDOW)
    number = order.regens + 1
    claimed = (
        _claimed(order)
        .filter(free)
        .update(regen_at=Now(), regens=number, regen_until=Now() + LEASE)
    )
    if claimed:
        order.regens = number
    return bool(claimed)


def _claimed(order: Order) -> QuerySet[Order]:
    return Order.objects.filter(pk=order.pk, status=Status.DELIVERED, regens=order.regens)


def _not_now(order: Order) -> Outcome:
    """One was begun less than five minutes ago: it may be under way, done or have failed."""
    with transaction.atomic():
        order = order.lock()
        if order.status != Status.DELIVERED:
            return _lost(order)
        entry = cache.find(order.session_id or "")
        if entry is None and not _is_under_way(order):
            entry = _put_back(order)
    if entry:
        return Outcome("verdict", order, entry=entry)
    if _is_under_way(order):
        return Outcome("regenerating", order, retry_after=RETRY_SOON)
    emailed = cache.emailed_label(order)
    return Outcome("too-soon", order, emailed=emailed, retry_after=_wait(order))


def _put_back(order: Order) -> CachedVerdict | None:
    """What this window's regeneration brought, if it did: the same answer as before it was lost."""
    kept = Verdict.objects.select_related("crosscheck").filter(order=order, kind="regen")
    verdict = kept.order_by("-pk").first()
    # A minute for clocks that differ; the window before this one is five away.
    if verdict is None or order.regen_at is None or verdict.created_at < order.regen_at - MINUTE:
        return None
    return cache.put(order, verdict, cache.comparison_of(verdict))


def _is_under_way(order: Order) -> bool:
    return order.regen_until is not None and order.regen_until > _clock(order)[1]


def _wait(order: Order) -> int:
    """Seconds until the next regeneration may begin."""
    begun, now = _clock(order)
    left = (begun or now) + WINDOW - now
    return max(1, math.ceil(left.total_seconds()))


def _clock(order: Order) -> tuple[datetime | None, datetime]:
    """When the last one was begun, and what the database's clock says now: hosts differ."""
    row = Order.objects.annotate(clock=Now()).values_list("regen_at", "clock").get(pk=order.pk)
    return row[0], row[1]
