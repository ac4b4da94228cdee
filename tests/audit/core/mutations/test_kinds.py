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

# The mutations of which the canonical mapping approves some, and for which tiers.
APPROVED = {
    "empty object or list": {"strategy"},  # an empty list of tests
    "blank summary": {"full", "strategy"},
    "summary under 10 characters": {"quick", "full", "strategy"},
    "one blank analysis": {"full", "strategy"},
    "every analysis blank": {"strategy"},
    "blank strategy text": {"strategy"},
    "fewer than two tests": {"strategy"},
    "text of invisible characters": {"quick", "full", "strategy"},
    "another top-level label": {"quick", "full", "strategy"},
    "three dimensions contradict it": {"full", "strategy"},
    "all dimensions contradict it": {"full", "strategy"},
    "all contradict, short summary": {"full", "strategy"},
    "one dimension inverted": {"full", "strategy"},
    "every label inverted": {"quick", "full", "strategy"},
    "cut off mid-sentence": {"quick", "full", "strategy"},
    "single letter": {"full", "strategy"},
    "filler or refusal": {"quick", "full", "strategy"},
    "same text everywhere": {"full", "strategy"},
    "repeated in a loop": {"quick", "full", "strategy"},
    "analyses swapped": {"full", "strategy"},
    "words reversed": {"quick", "full", "strategy"},
    "same test three times": {"strategy"},
}


def mutants_of(kind):
    for entry in ENTRIES:
        for mutant in mutants(entry["output"], entry["tier"]):
            if mutant.kind == kind:
                yield entry, mutant.output


def test_the_bundled_verdicts_are_good_and_cover_every_tier_and_label():
    for entry in ENTRIES:
        decision = crosscheck(entry["output"], entry["tier"])
        assert (decision.coherence_score, decision.flags) == (1.0, ())
    kinds = [(entry["tier"], entry["output"]["verdict"]) for entry in ENTRIES]
    assert len(set(kinds)) == len(kinds) == 12


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_mapping_approves_only_the_known_mutants(kind):
    approved = set()
    count = 0
    for entry, output in mutants_of(kind):
        count += 1
        if crosscheck(output, entry["tier"]).approved:
            approved.add(entry["tier"])
        else:
            assert not kind.should_pass
    assert count
    if not kind.should_pass:
        assert approved == APPROVED.get(kind.name, set())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_mutants_differ_from_the_original_and_from_each_other(kind):
    seen = set()
    for entry, output in mutants_of(kind):
        if not kind.should_pass:
            assert parse(output) != entry["output"]
        assert (id(entry), output) not in seen
        seen.add((id(entry), output))


@pytest.mark.parametrize("tier", TIERS)
def test_mutation_is_deterministic_and_leaves_its_input_unchanged(tier):
    payload = complete(tier)
    before = deepcopy(payload)
    first = list(mutants(payload, tier))
    assert payload == before
    assert list(mutants(payload, tier)) == first


def test_a_mutation_that_changes_nothing_is_left_out():
    """All analyses of this verdict are equal, so swapping them changes nothing."""
    names = {mutant.kind.name for mutant in mutants(complete("full"), "full")}
    assert "analyses swapped" not in names
    assert "words reversed" in names


def test_mutations_of_dimensions_do_not_apply_to_a_quick_verdict():
    names = {mutant.kind.name for mutant in mutants(complete("quick"), "quick")}
    assert (
        names & {"all dimensions contradict it", "analyses swapped", "fewer than two tests"}
        == set()
    )


def test_repeating_a_long_text_is_bounded():
    payload = {**complete("quick"), "summary": "Long. " * 50_000}
    assert max(len(mutant.output) for mutant in mutants(payload, "quick")) < 1_000_000
