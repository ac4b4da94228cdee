from audit.core.crosscheck import crosscheck
from audit.core.mutations.tally import Tally, total
from tests.support.verdict_payloads import complete

GOOD = complete("full")
PERFECT = crosscheck(GOOD, "full")
FLAGGED = crosscheck({**GOOD, "summary": "Go."}, "full")
MALFORMED = crosscheck("{", "full")


def test_rejected_passed_and_flagged_mutants_are_counted():
    found = Tally()
    for decision in (PERFECT, FLAGGED, MALFORMED, MALFORMED):
        found.add(decision, "full")
    assert (found.created["full"], found.rejected, found.passed["full"], found.flagged) == (
        4,
        2,
        2,
        1,
    )
    assert found.reasons == {"degenerate_manifold": 2}
    assert (found.lowest, found.median) == (-1.0, -1.0)


def test_the_median_is_a_score_that_occurred():
    found = Tally()
    for decision in (MALFORMED, FLAGGED, PERFECT):
        found.add(decision, "full")
    assert found.median == FLAGGED.coherence_score
    assert (Tally().lowest, Tally().median) == (None, None)


def test_a_total_leaves_its_tallies_unchanged():
    one, other = Tally(), Tally()
    one.add(PERFECT, "full")
    other.add(MALFORMED, "quick")
    whole = total([one, other])
    assert (whole.created, whole.rejected, whole.passed) == (
        {"full": 1, "quick": 1},
        1,
        {"full": 1},
    )
    assert (one.created, other.created) == ({"full": 1}, {"quick": 1})


def test_a_gate_error_is_a_rejection_without_a_score():
    found = Tally()
    found.add(crosscheck({}, "gold"), "full")
    assert (found.rejected, found.median, found.reasons) == (1, None, {"gate_error": 1})
