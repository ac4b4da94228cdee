import pytest

from audit.core.calibration import BUCKETS, Calibration, bucket
from audit.core.crosscheck import crosscheck
from tests.verdict_payloads import complete


@pytest.mark.parametrize(
    ("score", "place"),
    [(None, -1), (-1.0, -1), (0.0, 0), (0.0499, 0), (0.05, 1), (0.97, 19), (1.0, BUCKETS - 1)],
)
def test_where_a_score_lies(score, place):
    assert bucket(score) == place


def test_everything_is_counted_and_only_labels_agree_or_not():
    found = Calibration()
    good, bad = crosscheck(complete("quick"), "quick"), crosscheck("{", "quick")
    for decision, label in ((good, True), (good, None), (bad, False), (bad, True)):
        found.add(decision, label)
    assert (found.checked, found.approved, found.labelled) == (4, 2, 3)
    assert found.reasons == {"degenerate_manifold": 2}
    assert found.flags["malformed_json"] == 2
    assert found.scores == {BUCKETS - 1: 2, -1: 2}
    assert found.agreement == {(True, True): 1, (False, False): 1, (True, False): 1}
