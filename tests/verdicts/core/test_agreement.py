import pytest

from audit.core.wilson import wilson
from verdicts.core.agreement import Reply, agreement

A = Reply("GREEN", ("GREEN", "RED"), "a")


def test_all_are_compared_with_the_first():
    found = agreement([A, A, A._replace(text="b"), Reply("RED", ("RED", "RED"), "b")])
    assert found == (3, 2, 2, 1, 2)
    assert found.interval == wilson(2, 3)


def test_a_tier_without_dimensions_has_none_to_agree_on():
    one = A._replace(dimensions=None)
    assert agreement([one, one]).same_dimensions is None


def test_one_reply_tells_nothing():
    assert agreement([A]).interval == (0.0, 1.0)


def test_no_reply_is_a_mistake_of_the_callers():
    with pytest.raises(ValueError, match="unpack"):
        agreement([])
