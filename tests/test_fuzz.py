"""A short run of the fuzzer; `python -m tests.support.fuzz` has no end."""

import pytest

from tests.support.fuzz import TARGETS, fuzz

# What must have come up, or the damage is too great or too small to tell anything.
COMES_UP = {
    "model output": {"approved", "rejected: degenerate_manifold", "rejected: field_missing"},
    "webhook": {"no event", "bad signature", "a session", "an event of something else"},
    "reassembly": {"none", "a query"},
}


@pytest.mark.parametrize("target", TARGETS)
def test_damaged_input_breaks_nothing(target):
    found = fuzz(target, seed=20261116, times=2000)
    assert found.total() == 2000
    assert {what for what, count in found.items() if count >= 20} >= COMES_UP[target]
