"""A verdict that was made elsewhere passes the gate before it is cached (C17)."""

import json
from typing import Any

from django.db import transaction

from audit.core.crosscheck import Decision, crosscheck
from audit.core.vocabulary import UNKNOWN
from verdicts import queue
from verdicts.core.disclaimer import Comparison
from verdicts.models import Order, Status
from verdicts.services import cache
from verdicts.services.generate import Judged


def restore(order: Order, payload: Any) -> Decision | None:
    """Put it into the delivered order's cache, to be compared with what was emailed.

    Returns the gate's decision, which is on record either way; None: there is
    nothing delivered whose place it could take.
    """
    output = json.dumps(payload)
    with transaction.atomic():
        order = cache.hold(order)
        if order.status != Status.DELIVERED:
            return None
        decision = crosscheck(output, order.tier)
        judged = Judged(order, "regen", None, output, decision)
        row = judged.record()
        if decision.approved:
            verdict = judged.store(row)
            emailed = cache.emailed_label(order.pk) or UNKNOWN
            cache.put(order, verdict, Comparison(emailed))
            queue.enqueue(queue.COMPARE, verdict.pk)
    return decision
