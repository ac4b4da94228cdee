import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.core.wilson import wilson


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (1, 20, 0.0089, 0.2361),
        (5, 100, 0.0215, 0.1118),
        (50, 100, 0.4038, 0.5962),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_known_intervals(hits, total, low, high):
    found = wilson(hits, total)
    assert math.isclose(found.low, low, abs_tol=5e-5)
    assert math.isclose(found.high, high, abs_tol=5e-5)


def test_without_observations_the_interval_is_everything():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "total"), [(-1, 5), (6, 5), (1, 0)])
def test_an_invalid_rate_is_rejected(hits, total):
    with pytest.raises(ValueError, match="not a rate"):
        wilson(hits, total)


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_contains_the_rate_and_is_symmetric(drawn):
    hits, total = drawn
    low, high = wilson(hits, total)
    assert 0 <= low <= hits / total <= high <= 1
    mirrored = wilson(total - hits, total)
    assert math.isclose(mirrored.low, 1 - high, abs_tol=1e-9)
