import pytest

from verdicts.http.concurrency_limit import Slots


def test_so_many_and_no_more():
    slots = Slots()
    with slots.take(of=2) as first, slots.take(of=2) as second, slots.take(of=2) as third:
        assert (first, second, third) == (True, True, False)
        assert slots.taken == 2
    assert slots.taken == 0


def test_an_error_gives_the_place_back():
    slots = Slots()
    with pytest.raises(RuntimeError), slots.take(of=1):
        raise RuntimeError
    with slots.take(of=1) as free:
        assert free
