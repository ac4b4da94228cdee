"""Caches a verdict that a client posts, if it passes the gate (C17)."""

import json
from typing import Any

from django.db import transaction

from audit.core.crosscheck import Decision, crosscheck
from audit.core.vocabulary import UNKNOWN
from verdicts.core.disclaimer import Comparison
from verdicts.generation.generate import Judged
from verdicts.jobs import queue
from verdicts.models import Order, Status, Verdict
from verdicts.results import cache


def restore(order: Order, payload: Any) -> Decision | None:
    """Cache it for a delivered order, and queue its comparison with what was emailed.

    Returns the gate's decision, which is recorded either way; None: the order is not delivered.
    """
    output = json.dumps(payload)
    with transaction.atomic():
        order = order.lock()
        if order.status != Status.DELIVERED:
            return None
        decision = crosscheck(output, order.tier)
        judged = Judged(order, "regen", None, output, decision)
        row = judged.record(order)
        if decision.approved:
            known = _stored_equal(order, payload)
            if known:
                cache.put(order, known, cache.comparison_of(known))
            else:
                verdict = judged.store(row)
                emailed = cache.emailed_label(order) or UNKNOWN
                cache.put(order, verdict, Comparison(emailed))
                queue.enqueue(queue.COMPARE, verdict.pk)
    return decision


def _stored_equal(order: Order, payload: Any) -> Verdict | None:
    """The stored verdict with the same payload: posted again, or what was emailed."""
    stored = Verdict.objects.select_related("crosscheck", "order").filter(order=order)
    return next((one for one in stored.order_by("kind", "-pk") if one.payload == payload), None)
