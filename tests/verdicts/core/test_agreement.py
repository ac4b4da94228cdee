import pytest

from audit.core.wilson import wilson
from verdicts.core.agreement import Reply, agreement

A = Reply("GREEN", ("GREEN", "RED"), "a")


def test_replies_are_compared_with_the_first():
    found = agreement([A, A, A._replace(text="b"), Reply("RED", ("RED", "RED"), "b")])
    assert found == (3, 2, 2, 1, 2)
    assert found.interval == wilson(2, 3)


def test_a_tier_without_breakdown_has_no_dimension_count():
    one = A._replace(dimensions=None)
    assert agreement([one, one]).same_dimensions is None


def test_one_reply_has_the_widest_interval():
    assert agreement([A]).interval == (0.0, 1.0)


def test_no_replies_raise():
    with pytest.raises(ValueError, match="unpack"):
        agreement([])
