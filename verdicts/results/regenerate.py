"""Regenerates a delivered verdict on a cache miss, inside the request that misses.

Single-flight: a request takes a slot of this process, then claims the order by compare-and-swap,
so that there is one model call per session (R6). A claim blocks further regenerations for five
minutes by the database's clock, whatever its result (R5), which bounds the calls that readers can
cause. If the model's quota is used up while another reader of this process already waits for it,
the claim is given back, as if no slot had been free.
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
from verdicts.core.errors import ModelError, ModelQuotaExhausted, ModelRetired
from verdicts.core.read_outcomes import RETRY_SOON, Name
from verdicts.generation.client import waiting_for_quota
from verdicts.generation.generate import Generate, Judged, generate
from verdicts.http.concurrency_limit import ConcurrencyLimit
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
# Longer than the deadline of the call, so that a claim outlives it only if its process died.
LEASE: Final = timedelta(seconds=35)

# Of this process: slow regenerations must not occupy all threads that answer readers.
in_progress = ConcurrencyLimit()


def regenerate(order: Order, *, model: str, ask: Generate) -> Outcome:
    """The delivered order's verdict, regenerated; or why there is none now."""
    with in_progress.acquire(limit=settings.SERVING.regenerations) as free:
        if not free or waiting_for_quota.in_use:
            return Outcome("regenerating", order, retry_after=RETRY_SOON)
        if not _claim(order):
            return _within_window(order)
        return _generate(order, model=model, ask=ask)


def _generate(order: Order, *, model: str, ask: Generate) -> Outcome:
    original = Verdict.original_of(order)
    emailed = original.label if original else cache.emailed_label(order)
    seed = delivered_seed(original)
    try:
        judged = generate(order, "regen", model=model, ask=ask, delivered_seed=seed)
    except ModelQuotaExhausted:
        return _give_claim_back(order)
    except ModelError as error:
        return _no_answer(order, error, model=model, emailed=emailed)
    return _store(order, judged, emailed)


def _give_claim_back(order: Order) -> Outcome:
    """As without a free slot: nothing was started, and no attempt counts."""
    _claimed(order).update(regen_at=None, regens=order.regens - 1, regen_until=None)
    return Outcome("regenerating", order, retry_after=RETRY_SOON)


def _no_answer(order: Order, error: ModelError, *, model: str, emailed: str) -> Outcome:
    logger.warning("no regeneration of order %s: %s", order.pk, error)
    _claimed(order).update(regen_until=None)
    name: Name = "try-later"
    if isinstance(error, ModelRetired):
        name = "model-retired"
        with transaction.atomic():
            alert_model_retired(order, model)
    return Outcome(name, order, emailed=emailed, retry_after=_wait(order))


def _store(order: Order, judged: Judged, emailed: str) -> Outcome:
    """Record the decision; an approved verdict is stored, cached and queued for comparison."""
    with transaction.atomic():
        # Locks the order's row, as the cache requires; it may have changed during the call.
        still_claimed = _claimed(order).update(regen_until=None)
        order.refresh_from_db()
        row = judged.record(order)
        if not still_claimed:
            return _claim_lost(order)
        if not judged.decision.approved:
            if not order.cases.filter(crosscheck__kind="regen").exists():  # one case is enough
                open_case(order, Case.Kind.REJECTED, crosscheck=row)
            return Outcome("rejected", order, emailed=emailed)
        verdict = judged.store(row)
        queue.enqueue(queue.COMPARE, verdict.pk)
        entry = cache.put(order, verdict, Comparison(emailed or UNKNOWN))
    return Outcome("verdict", order, entry=entry)


def _claim_lost(order: Order) -> Outcome:
    """The claim does not hold any more: erased, or taken over after a long pause."""
    if order.status == Status.ERASED:
        return Outcome("erased", order)
    return Outcome("regenerating", order, retry_after=RETRY_SOON)


def _claim(order: Order) -> bool:
    """Claim the order, unless one was started in the last five minutes. Counts the attempt."""
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


def _within_window(order: Order) -> Outcome:
    """One was started less than five minutes ago: it is in progress, done, or has failed."""
    with transaction.atomic():
        order = order.lock()
        if order.status != Status.DELIVERED:
            return _claim_lost(order)
        entry = cache.find(order.session_id or "")
        if entry is None and not _is_in_progress(order):
            entry = _cache_again(order)
    if entry:
        return Outcome("verdict", order, entry=entry)
    if _is_in_progress(order):
        return Outcome("regenerating", order, retry_after=RETRY_SOON)
    emailed = cache.emailed_label(order)
    return Outcome("too-soon", order, emailed=emailed, retry_after=_wait(order))


def _cache_again(order: Order) -> CachedVerdict | None:
    """Cache this window's regeneration again, if it was approved: the same response as before."""
    kept = Verdict.objects.select_related("crosscheck").filter(order=order, kind="regen")
    verdict = kept.order_by("-pk").first()
    # A minute of tolerance for clock skew; the previous window is five minutes away.
    if verdict is None or order.regen_at is None or verdict.created_at < order.regen_at - MINUTE:
        return None
    return cache.put(order, verdict, cache.comparison_of(verdict))


def _is_in_progress(order: Order) -> bool:
    return order.regen_until is not None and order.regen_until > _clock(order)[1]


def _wait(order: Order) -> int:
    """Seconds until the next regeneration may start."""
    started, now = _clock(order)
    left = (started or now) + WINDOW - now
    return max(1, math.ceil(left.total_seconds()))


def _clock(order: Order) -> tuple[datetime | None, datetime]:
    """When the last one was started, and now, both by the database's clock."""
    row = Order.objects.annotate(clock=Now()).values_list("regen_at", "clock").get(pk=order.pk)
    return row[0], row[1]
