"""A short run of the fuzzer; `python -m tests.support.fuzz` runs it for longer."""

import pytest

from tests.support.fuzz import TARGETS, fuzz

# Results that must occur: without them the mutations are too strong or too weak to test anything.
REQUIRED_RESULTS = {
    "model output": {"approved", "rejected: degenerate_manifold", "rejected: field_missing"},
    "webhook": {"no event", "bad signature", "a session", "another event"},
    "reassembly": {"none", "a query"},
}


@pytest.mark.parametrize("target", TARGETS)
def test_mutated_input_is_handled(target):
    found = fuzz(target, seed=20261116, times=2000)
    assert found.total() == 2000
    assert {result for result, count in found.items() if count >= 20} >= REQUIRED_RESULTS[target]
