"""Hits beside busy pages: what is promised, with and without an earlier revision."""

import pytest

from benchmarks.cached import pages, wrk
from benchmarks.cached.pages import Round, limits

ALONE = {"SQLite": 40_000.0, "PostgreSQL": 20_000.0}
FOUND = {
    "SQLite": {"now": Round(10_000, 5, 300), "0.1": Round(12_000, 9, 400)},
    "PostgreSQL": {"now": Round(3_000, 5, 300), "0.1": Round(4_000, 9, 400)},
}


def test_hits_are_compared_with_those_alone():
    found = limits(ALONE, FOUND, before="")
    assert [limit.figure for limit in found] == [0.25, 0.15]
    assert [limit.is_met for limit in found] == [True, False]


def test_an_earlier_revision_is_reached_within_a_fifth():
    _, sqlite, _, postgresql = limits(ALONE, FOUND, before="0.1")
    assert sqlite.is_met
    assert not postgresql.is_met


@pytest.mark.parametrize("before", ["", "0.1"])
def test_without_wrk_every_limit_says_so(monkeypatch, before):
    monkeypatch.setattr(wrk, "is_installed", lambda _program: False)
    found = pages.run(None, before=before).limits
    assert [limit.what for limit in found] == [
        limit.what for limit in limits(ALONE, FOUND, before=before)
    ]
    assert {limit.verdict for limit in found} == {"not measured: wrk is not installed"}
