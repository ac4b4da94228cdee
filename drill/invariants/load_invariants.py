"""What holds while a crowd waits for a slow model. Pure: what was felt in, violations out."""

from collections.abc import Iterator

from drill.invariants.facts import CustomerFacts
from drill.invariants.invariant import Invariant
from drill.load.crowd import LOST, Felt

MAX_SECONDS = 30.0  # seconds: a regeneration may take 25 of them, a question to Stripe 4
# Payments that are heard of at the same moment, and orders that are judged at the same moment.
AT_ONCE = 16 + 4
# Seconds, for 95 hits of 100 in the crowd. A hit takes some milliseconds: what is to be found
# is a reader who waits for the model or for a worker, and not a machine that is busy.
QUICK = 2.0


def judge_crowd(felt: Felt, met: CustomerFacts) -> list[Invariant]:
    return [
        Invariant(
            "Every hit is answered from the cache",
            len(felt.calm) + len(felt.crowded),
            [f"{felt.missed} were not"] if felt.missed else [],
        ),
        Invariant("Hits stay quick", len(felt.crowded), list(_slow(felt))),
        Invariant("Nobody meets a 5xx", met.answers.total(), list(_errors(met))),
        Invariant("Nobody is held longer than the deadline", met.answers.total(), list(_held(met))),
        Invariant(
            "Lost pages are made again; who finds no place waits (202)",
            felt.turned_away + len(felt.regenerated),
            list(_lost(felt)),
        ),
        Invariant("Orders are begun in the order of payment", len(felt.paid), list(_late(felt))),
    ]


def overtaken(felt: Felt) -> list[int]:
    """By how many later payments each order was overtaken, in the order of payment."""
    begun = {number: place for place, number in enumerate(felt.begun)}
    last = len(felt.paid)  # who was never begun was overtaken by all
    return [max(0, begun.get(number, last) - place) for place, number in enumerate(felt.paid)]


def within(share: float, took: list[float]) -> float:
    """The seconds within which such a share of them was answered."""
    return sorted(took)[int(share * (len(took) - 1))] if took else 0.0


def _slow(felt: Felt) -> Iterator[str]:
    before, most = within(0.95, felt.calm), within(0.95, felt.crowded)
    if most > QUICK:
        yield f"95 of 100 in the crowd took up to {most:.1f} s, before it {before:.3f} s"


def _errors(met: CustomerFacts) -> Iterator[str]:
    for status, count in sorted(met.answers.items()):
        if status >= 500 or not status:
            yield f"{count} answers were {status or 'none at all'}"


def _held(met: CustomerFacts) -> Iterator[str]:
    seconds, what = met.slowest
    if seconds > MAX_SECONDS:
        yield f"{what} took {seconds:.1f} s"


def _lost(felt: Felt) -> Iterator[str]:
    if felt.unanswered or len(felt.regenerated) != LOST:
        yield f"{felt.unanswered} of {LOST} lost pages were not made again"
    if not felt.turned_away:
        yield "nobody was asked to wait"


def _late(felt: Felt) -> Iterator[str]:
    if set(felt.paid) != set(felt.begun):
        yield "not every paid order was begun"
    elif (most := max(overtaken(felt), default=0)) > AT_ONCE:
        yield f"an order was overtaken by {most} later ones"
