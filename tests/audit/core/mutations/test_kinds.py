import json
from copy import deepcopy
from pathlib import Path

import pytest

from audit.core.crosscheck import crosscheck
from audit.core.mutations.kinds import KINDS, mutants
from audit.core.parsing import parse
from audit.core.vocabulary import TIERS
from tests.support.verdict_payloads import complete

pytestmark = pytest.mark.slow

GOOD = Path(__file__).parents[4] / "audit/data/good_verdicts.jsonl"
ENTRIES = [json.loads(line) for line in GOOD.read_text(encoding="utf-8").splitlines()]

# What the canonical mapping lets through, and of which tiers it catches some or all.
LET_THROUGH = {
    "object or list empty": {"strategy"},  # no tests at all
    "summary blank": {"full", "strategy"},
    "summary under 10 characters": {"quick", "full", "strategy"},
    "one analysis blank": {"full", "strategy"},
    "every analysis blank": {"strategy"},
    "strategy's text blank": {"strategy"},
    "fewer than two tests": {"strategy"},
    "text of invisible characters": {"quick", "full", "strategy"},
    "another verdict on top": {"quick", "full", "strategy"},
    "three dimensions against it": {"full", "strategy"},
    "all dimensions against it": {"full", "strategy"},
    "all against it, summary short": {"full", "strategy"},
    "one dimension turned": {"full", "strategy"},
    "every label turned": {"quick", "full", "strategy"},
    "cut in mid-sentence": {"quick", "full", "strategy"},
    "one letter": {"full", "strategy"},
    "filler or refusal": {"quick", "full", "strategy"},
    "one text everywhere": {"full", "strategy"},
    "in a loop": {"quick", "full", "strategy"},
    "analyses swapped": {"full", "strategy"},
    "words in reverse": {"quick", "full", "strategy"},
    "one test three times": {"strategy"},
}


def made(kind):
    for entry in ENTRIES:
        for mutant in mutants(entry["output"], entry["tier"]):
            if mutant.kind == kind:
                yield entry, mutant.output


def test_the_verdicts_that_come_with_the_site_are_good_and_of_every_tier_and_label():
    for entry in ENTRIES:
        decision = crosscheck(entry["output"], entry["tier"])
        assert (decision.coherence_score, decision.flags) == (1.0, ())
    kinds = [(entry["tier"], entry["output"]["verdict"]) for entry in ENTRIES]
    assert len(set(kinds)) == len(kinds) == 12


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_is_made_and_let_through_where_the_mapping_is_blind(kind):
    through = set()
    count = 0
    for entry, output in made(kind):
        count += 1
        if crosscheck(output, entry["tier"]).approved:
            through.add(entry["tier"])
        else:
            assert not kind.should_pass
    assert count
    if not kind.should_pass:
        assert through == LET_THROUGH.get(kind.name, set())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damage_changes_something_and_no_two_mutants_are_the_same(kind):
    seen = set()
    for entry, output in made(kind):
        if not kind.should_pass:
            assert parse(output) != entry["output"]
        assert (id(entry), output) not in seen
        seen.add((id(entry), output))


@pytest.mark.parametrize("tier", TIERS)
def test_a_verdict_is_left_as_it_was_and_always_damaged_alike(tier):
    payload = complete(tier)
    before = deepcopy(payload)
    first = list(mutants(payload, tier))
    assert payload == before
    assert list(mutants(payload, tier)) == first


def test_what_damage_leaves_as_it_was_is_left_out():
    """All analyses of this verdict are the same text, so to swap them changes nothing."""
    names = {mutant.kind.name for mutant in mutants(complete("full"), "full")}
    assert "analyses swapped" not in names
    assert "words in reverse" in names


def test_a_quick_verdict_has_no_dimensions_to_damage():
    names = {mutant.kind.name for mutant in mutants(complete("quick"), "quick")}
    assert (
        names & {"all dimensions against it", "analyses swapped", "fewer than two tests"} == set()
    )


def test_a_long_text_is_not_multiplied_beyond_measure():
    payload = {**complete("quick"), "summary": "Long. " * 50_000}
    assert max(len(mutant.output) for mutant in mutants(payload, "quick")) < 1_000_000
