"""The invariant on calls to the model: no more of them than the site is allowed to make. Pure.

A call is counted on the order before the model is asked, and ends with the first request that
the client does not retry. So an order cannot have more such requests than counted calls, whatever
was killed and when. Calls that repeat earlier work are limited too: by the answers that may have
been lost with a process (`drill.invariants.lost_answers`) or came after the deadline.
"""

from collections import Counter
from typing import Final

from drill.invariants.facts import Facts, OrderFacts
from drill.invariants.invariant import Invariant, paid_orders
from drill.load.workload import REJECTED

MAX_ATTEMPTS: Final = 8
MAX_REQUESTS: Final = 3  # of the client, in one call
# Waited for within the call, until its deadline.
QUOTA: Final = "rate_limited"
# What the client retries. Any other response ends its call.
RETRIED: Final = (QUOTA, "error", "bad_gateway", "unavailable", "hang_up", "hang_up_after")
# Requests for which the model did the work.
ANSWERED: Final = ("", "verdict", "variance", *REJECTED)
# Requests whose response comes after the deadline.
TOO_SLOW: Final = ("slow", "slow_after", "dribble")


def model_calls_within_limits(invariant: Invariant, facts: Facts) -> None:
    discarded, late = 0, 0
    for _, order in paid_orders(facts):
        requests = facts.sandbox.model_requests.get(order.number, Counter())
        _check_order(invariant, order, requests)
        evictions = facts.clients.evicted[order.session]
        invariant.check(
            order.regens <= evictions,
            f"order {order.number}: regenerated {order.regens} times, evicted {evictions} times",
        )
        answered = sum(requests[fault] for fault in ANSWERED)
        discarded += max(0, answered - 1 - order.regens)
        late += max(0, order.timed_out - sum(requests[fault] for fault in TOO_SLOW))
    invariant.note = (
        f"{discarded} model answers were discarded; allowed are {facts.answers_at_risk} that may "
        f"have been lost with a process and {late} that came after the deadline"
    )
    invariant.check(discarded <= facts.answers_at_risk + late, invariant.note)


def _check_order(invariant: Invariant, order: OrderFacts, requests: Counter[str]) -> None:
    calls = order.attempts + order.retired_calls + order.regens
    sent = sum(count for fault, count in requests.items() if fault != QUOTA)
    invariant.check(
        sent <= MAX_REQUESTS * calls and order.attempts <= MAX_ATTEMPTS,
        f"order {order.number}: {sent} requests for {calls} calls, {order.attempts} attempts",
    )
    ended = sum(count for fault, count in requests.items() if fault not in RETRIED)
    invariant.check(
        ended <= calls,
        f"order {order.number}: {ended} calls ended, {calls} were counted",
    )
