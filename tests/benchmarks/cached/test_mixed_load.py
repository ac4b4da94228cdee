"""The limits of cache hits under mixed load, with and without an earlier revision."""

import pytest

from benchmarks.cached import mixed_load, wrk
from benchmarks.cached.mixed_load import Round, limits

ALONE = {"SQLite": 40_000.0, "PostgreSQL": 20_000.0}
FOUND = {
    "SQLite": {"now": Round(10_000, 5, 300), "0.1": Round(12_000, 9, 400)},
    "PostgreSQL": {"now": Round(3_000, 5, 300), "0.1": Round(4_000, 9, 400)},
}


def test_hits_are_compared_with_those_without_pages():
    found = limits(ALONE, FOUND, before="")
    assert [limit.value for limit in found] == [0.25, 0.15]
    assert [limit.is_met for limit in found] == [True, False]


def test_hits_may_be_a_fifth_below_an_earlier_revision():
    _, sqlite, _, postgresql = limits(ALONE, FOUND, before="0.1")
    assert sqlite.is_met
    assert not postgresql.is_met


@pytest.mark.parametrize("before", ["", "0.1"])
def test_without_wrk_every_limit_says_so(monkeypatch, before):
    monkeypatch.setattr(wrk, "is_installed", lambda _program: False)
    found = mixed_load.run(None, before=before).limits
    assert [limit.name for limit in found] == [
        limit.name for limit in limits(ALONE, FOUND, before=before)
    ]
    assert {limit.status for limit in found} == {"not measured: wrk is not installed"}
