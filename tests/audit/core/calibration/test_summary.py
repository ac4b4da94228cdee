import pytest

from audit.core.calibration.summary import BUCKET_EDGES, Calibration, bucket
from audit.core.crosscheck import crosscheck
from audit.core.tmm import OMEGA
from tests.support.verdict_payloads import complete

LAST = len(BUCKET_EDGES) - 1


@pytest.mark.parametrize(
    ("score", "index"),
    [
        (None, -1),
        (-1.0, -1),
        (0.0, 0),
        (0.0499, 0),
        (0.05, 1),
        (0.97, 19),
        (OMEGA, LAST),
        (1.0, LAST),
    ],
)
def test_bucket_of_a_score(score, index):
    assert bucket(score) == index


def test_no_bucket_contains_the_threshold():
    assert bucket(OMEGA - 1e-9) == LAST - 1


def test_agreement_counts_reviewed_outputs_only():
    found = Calibration()
    good, bad = crosscheck(complete("quick"), "quick"), crosscheck("{", "quick")
    for decision, should_pass in ((good, True), (good, None), (bad, False), (bad, True)):
        found.add(decision, should_pass)
    assert (found.checked, found.approved, found.reviewed) == (4, 2, 3)
    assert found.reasons == {"degenerate_manifold": 2}
    assert found.flags["malformed_json"] == 2
    assert found.distribution == {LAST: 2, -1: 2}
    assert found.scores == {(True, 1.0): 1, (None, 1.0): 1, (False, -1.0): 1, (True, -1.0): 1}
    assert found.agreement == {(True, True): 1, (False, False): 1, (True, False): 1}
