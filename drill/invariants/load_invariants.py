"""The additional invariants of a load scenario. Pure: measurements in, violations out."""

from collections.abc import Iterator
from typing import Final

from drill.invariants.facts import ClientFacts
from drill.invariants.invariant import Invariant
from drill.scenarios.load_scenario import EVICTED, Measurements

MAX_SECONDS: Final = 30.0  # of which a regeneration takes 25, a request to Stripe 4
# Simultaneous payments may change places: the sandbox delivers 16 events at once, and the
# `generate` pool has 4 workers.
MAX_OVERTAKEN: Final = 16 + 4
# Seconds. A cache hit takes a few milliseconds: the limit is for hits that wait for the model or
# for a worker, and must hold on a busy machine.
MAX_HIT_P95: Final = 2.0


def judge_load(measured: Measurements, clients: ClientFacts) -> list[Invariant]:
    responses = clients.responses.total()
    return [
        Invariant(
            "Every cached verdict is served",
            len(measured.baseline_hits) + len(measured.loaded_hits),
            [f"{measured.missed_hits} were not"] if measured.missed_hits else [],
        ),
        Invariant(
            "Cache hits stay fast (p95)", len(measured.loaded_hits), list(_slow_hits(measured))
        ),
        Invariant("No response is a 5xx", responses, list(_errors(clients))),
        Invariant("No response exceeds the deadline", responses, list(_too_slow(clients))),
        Invariant(
            "Evicted pages are regenerated; readers without a slot get 202",
            measured.told_to_wait + len(measured.regenerated),
            list(_not_regenerated(measured)),
        ),
        Invariant(
            "Orders are processed in order of payment",
            len(measured.paid),
            list(_out_of_order(measured)),
        ),
    ]


def overtaken(measured: Measurements) -> list[int]:
    """By how many later payments each order was overtaken, in the order of payment."""
    positions = {number: position for position, number in enumerate(measured.started)}
    last = len(measured.paid)  # an order that never started was overtaken by all
    return [
        max(0, positions.get(number, last) - position)
        for position, number in enumerate(measured.paid)
    ]


def quantile(share: float, seconds: list[float]) -> float:
    return sorted(seconds)[int(share * (len(seconds) - 1))] if seconds else 0.0


def _slow_hits(measured: Measurements) -> Iterator[str]:
    baseline = quantile(0.95, measured.baseline_hits)
    loaded = quantile(0.95, measured.loaded_hits)
    if loaded > MAX_HIT_P95:
        yield f"p95 was {loaded:.1f} s under load, {baseline:.3f} s before it"


def _errors(clients: ClientFacts) -> Iterator[str]:
    for status, count in sorted(clients.responses.items()):
        if status >= 500 or not status:
            yield f"{count} requests got {status or 'no response'}"


def _too_slow(clients: ClientFacts) -> Iterator[str]:
    seconds, request = clients.slowest
    if seconds > MAX_SECONDS:
        yield f"{request} took {seconds:.1f} s"


def _not_regenerated(measured: Measurements) -> Iterator[str]:
    if measured.not_regenerated or len(measured.regenerated) != EVICTED:
        yield f"{measured.not_regenerated} of {EVICTED} evicted pages were not regenerated"
    if not measured.told_to_wait:
        yield "no reader was told to wait"


def _out_of_order(measured: Measurements) -> Iterator[str]:
    if set(measured.paid) != set(measured.started):
        yield "not every paid order was processed"
    elif (most := max(overtaken(measured), default=0)) > MAX_OVERTAKEN:
        yield f"an order was overtaken by {most} later ones"
