import pytest

from verdicts.http.concurrency_limit import ConcurrencyLimit


def test_callers_over_the_limit_do_not_acquire():
    limiter = ConcurrencyLimit()
    with (
        limiter.acquire(limit=2) as first,
        limiter.acquire(limit=2) as second,
        limiter.acquire(limit=2) as third,
    ):
        assert (first, second, third) == (True, True, False)
        assert limiter.in_use == 2
    assert limiter.in_use == 0


def test_an_exception_releases():
    limiter = ConcurrencyLimit()
    with pytest.raises(RuntimeError), limiter.acquire(limit=1):
        raise RuntimeError
    with limiter.acquire(limit=1) as acquired:
        assert acquired
