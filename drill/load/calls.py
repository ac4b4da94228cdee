"""Whether the model was asked no more often than the site may ask it. Pure.

A call is begun and counted before the model is asked, and ends with the first request
that is not tried again inside it. So an order can have no more such requests than calls
that were begun, whoever was killed when. That leaves the calls which were begun in
order to do again what was done before: of those there are no more than answers that a
process can have taken with it (`drill.invariants.lost_answers`), or that came too late to be heard.
"""

from collections import Counter
from typing import Final

from drill.invariants.facts import Facts, OrderFacts
from drill.invariants.invariant import Invariant, paid_orders
from drill.load.plan import REJECTED

MAX_ATTEMPTS: Final = 8
TRIES: Final = 3  # of the client, inside one call
# A full quota is waited for inside the call, for as long as there is time.
QUOTA: Final = "rate_limited"
# What the client tries again by itself; anything else is the end of its call.
TRIED_AGAIN: Final = (QUOTA, "error", "bad_gateway", "unavailable", "hang_up", "hang_up_after")
# What the model has thought about, as far as anybody can see; else it was spared the work.
ANSWERED: Final = ("", "verdict", "variance", *REJECTED)
# What the client does not wait for to the end.
TOO_SLOW: Final = ("slow", "slow_after", "dribble")


def calls_allowed(invariant: Invariant, facts: Facts) -> None:
    thrown_away, late = 0, 0
    for _, order in paid_orders(facts):
        asked = facts.outside.asked.get(order.number, Counter())
        _of_order(invariant, order, asked)
        windows = facts.met.evicted[order.session]
        invariant.check(
            order.regens <= windows,
            f"order {order.number}: regenerated {order.regens} times, lost {windows} times",
        )
        answered = sum(asked[fault] for fault in ANSWERED)
        thrown_away += max(0, answered - 1 - order.regens)
        late += max(0, order.timed_out - sum(asked[fault] for fault in TOO_SLOW))
    invariant.note = (
        f"{thrown_away} answers were thrown away; {facts.at_risk} could be lost with the "
        f"process that held them, {late} came too late"
    )
    invariant.check(thrown_away <= facts.at_risk + late, invariant.note)


def _of_order(invariant: Invariant, order: OrderFacts, asked: Counter[str]) -> None:
    begun = order.attempts + order.retired_calls + order.regens
    requests = sum(count for fault, count in asked.items() if fault != QUOTA)
    invariant.check(
        requests <= TRIES * begun and order.attempts <= MAX_ATTEMPTS,
        f"order {order.number}: {requests} requests for {begun} calls that were begun",
    )
    ends = sum(count for fault, count in asked.items() if fault not in TRIED_AGAIN)
    invariant.check(
        ends <= begun,
        f"order {order.number}: {ends} calls came to an end, {begun} were begun",
    )
