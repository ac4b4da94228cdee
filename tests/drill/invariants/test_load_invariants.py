"""Each invariant of a load scenario, held and violated."""

from collections import Counter
from pathlib import Path

import pytest

from drill.invariants.facts import ClientFacts
from drill.invariants.load_invariants import MAX_OVERTAKEN, judge_load, overtaken
from drill.scenarios.load_scenario import EVICTED, Measurements

HITS = "Every cached verdict is served"
FAST = "Cache hits stay fast (p95)"
ERRORS = "No response is a 5xx"
DEADLINE = "No response exceeds the deadline"
REGENERATED = "Evicted pages are regenerated; readers without a slot get 202"
ORDERED = "Orders are processed in order of payment"


def measured(**changes: object) -> Measurements:
    everyone = list(range(1, 101))
    sound = {
        "baseline_hits": [0.01] * 5,
        "loaded_hits": [0.02] * 9,
        "regenerated": [3.0] * EVICTED,
        "told_to_wait": 4,
        "paid": everyone,
        "started": everyone,
    }
    return Measurements(**{**sound, **changes})


def clients(**changes: object) -> ClientFacts:
    return ClientFacts(**{"responses": Counter({200: 90, 202: 30}), **changes})


def violated(measured: Measurements, clients: ClientFacts) -> dict[str, list[str]]:
    return {one.name: one.violations for one in judge_load(measured, clients) if one.violations}


def test_all_invariants_hold():
    assert violated(measured(), clients()) == {}
    assert all(one.checked for one in judge_load(measured(), clients()))


@pytest.mark.parametrize(
    ("measured", "clients", "name"),
    [
        (measured(missed_hits=1), clients(), HITS),
        (measured(loaded_hits=[0.02] * 90 + [2.1] * 10), clients(), FAST),
        (measured(), clients(responses=Counter({503: 1})), ERRORS),
        (measured(), clients(responses=Counter({0: 1})), ERRORS),
        (measured(), clients(slowest=(31.0, "GET /")), DEADLINE),
        (measured(not_regenerated=1), clients(), REGENERATED),
        (measured(regenerated=[]), clients(), REGENERATED),
        (measured(told_to_wait=0), clients(), REGENERATED),
        (measured(started=[1, 2]), clients(), ORDERED),
        (
            measured(
                started=[*range(2, MAX_OVERTAKEN + 3), 1, *range(MAX_OVERTAKEN + 3, 101)],
            ),
            clients(),
            ORDERED,
        ),
    ],
)
def test_a_violated_invariant_is_named(measured, clients, name):
    assert list(violated(measured, clients)) == [name]


def test_simultaneous_payments_may_overtake_each_other():
    started = [*range(2, MAX_OVERTAKEN + 2), 1, *range(MAX_OVERTAKEN + 2, 101)]
    assert violated(measured(started=started), clients()) == {}
    assert overtaken(measured(started=started))[:2] == [MAX_OVERTAKEN, 0]


def test_a_few_slow_hits_are_allowed():
    assert violated(measured(loaded_hits=[0.02] * 96 + [9.0] * 4), clients()) == {}


def test_an_order_that_never_started_was_overtaken_by_all():
    assert overtaken(measured(started=list(range(2, 101)))) == [100, *[0] * 99]


def test_the_page_lists_every_invariant():
    page = (Path(__file__).parents[3] / "docs/DRILL.md").read_text()
    names = [one.name for one in judge_load(measured(), clients())]
    assert [name for name in names if f"- {name}" not in page] == []
