"""Each invariant to a crowd, kept and broken."""

from collections import Counter

import pytest

from drill.invariants.facts import CustomerFacts
from drill.invariants.load_invariants import AT_ONCE, judge_crowd, overtaken
from drill.load.crowd import LOST, Felt


def felt(**changes: object) -> Felt:
    everybody = list(range(1, 101))
    plain = {
        "calm": [0.01] * 5,
        "crowded": [0.02] * 9,
        "regenerated": [3.0] * LOST,
        "turned_away": 4,
        "paid": everybody,
        "begun": everybody,
    }
    return Felt(**{**plain, **changes})


def met(**changes: object) -> CustomerFacts:
    return CustomerFacts(**{"answers": Counter({200: 90, 202: 30}), **changes})


def violated(felt: Felt, met: CustomerFacts) -> dict[str, list[str]]:
    return {one.name: one.violations for one in judge_crowd(felt, met) if one.violations}


def test_all_is_well():
    assert violated(felt(), met()) == {}
    assert all(one.checked for one in judge_crowd(felt(), met()))


@pytest.mark.parametrize(
    ("felt", "met", "name"),
    [
        (felt(missed=1), met(), "Every hit is answered from the cache"),
        (felt(crowded=[0.02] * 90 + [2.1] * 10), met(), "Hits stay quick"),
        (felt(), met(answers=Counter({503: 1})), "Nobody meets a 5xx"),
        (felt(), met(answers=Counter({0: 1})), "Nobody meets a 5xx"),
        (felt(), met(slowest=(31.0, "GET /")), "Nobody is held longer than the deadline"),
        (felt(unanswered=1), met(), "Lost pages are made again; who finds no place waits (202)"),
        (felt(regenerated=[]), met(), "Lost pages are made again; who finds no place waits (202)"),
        (felt(turned_away=0), met(), "Lost pages are made again; who finds no place waits (202)"),
        (felt(begun=[1, 2]), met(), "Orders are begun in the order of payment"),
        (
            felt(begun=[*range(2, AT_ONCE + 3), 1, *range(AT_ONCE + 3, 101)]),
            met(),
            "Orders are begun in the order of payment",
        ),
    ],
)
def test_what_is_broken_is_named(felt, met, name):
    assert list(violated(felt, met)) == [name]


def test_who_pays_at_the_same_moment_may_overtake_another():
    begun = [*range(2, AT_ONCE + 2), 1, *range(AT_ONCE + 2, 101)]
    assert violated(felt(begun=begun), met()) == {}
    assert overtaken(felt(begun=begun))[:2] == [AT_ONCE, 0]


def test_a_few_slow_hits_are_the_machines():
    assert violated(felt(crowded=[0.02] * 96 + [9.0] * 4), met()) == {}


def test_an_order_that_was_never_begun_was_overtaken_by_all():
    assert overtaken(felt(begun=list(range(2, 101)))) == [100, *[0] * 99]
