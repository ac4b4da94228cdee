import pytest

from audit.core.calibration.summary import BUCKET_EDGES, Calibration, bucket
from audit.core.crosscheck import crosscheck
from audit.core.tmm import OMEGA
from tests.support.verdict_payloads import complete

LAST = len(BUCKET_EDGES) - 1


@pytest.mark.parametrize(
    ("score", "place"),
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
def test_where_a_score_lies(score, place):
    assert bucket(score) == place


def test_no_place_lies_on_both_sides_of_the_threshold():
    assert bucket(OMEGA - 1e-9) == LAST - 1


def test_everything_is_counted_and_only_labels_agree_or_not():
    found = Calibration()
    good, bad = crosscheck(complete("quick"), "quick"), crosscheck("{", "quick")
    for decision, label in ((good, True), (good, None), (bad, False), (bad, True)):
        found.add(decision, label)
    assert (found.checked, found.approved, found.reviewed) == (4, 2, 3)
    assert found.reasons == {"degenerate_manifold": 2}
    assert found.flags["malformed_json"] == 2
    assert found.distribution == {LAST: 2, -1: 2}
    assert found.scores == {(True, 1.0): 1, (None, 1.0): 1, (False, -1.0): 1, (True, -1.0): 1}
    assert found.agreement == {(True, True): 1, (False, False): 1, (True, False): 1}
