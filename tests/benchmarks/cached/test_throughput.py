"""Every figure that was promised of cached reads stays one, whoever is there to be measured."""

import pytest

from benchmarks.cached import section, wrk
from benchmarks.cached.targets import BARE, DRF, FASTAPI, NGINX, SITE_POSTGRESQL, SITE_SQLITE
from benchmarks.cached.throughput import limits
from benchmarks.cached.wrk import Load

OURS = {SITE_SQLITE: Load(9_000, 1, 2, 1), SITE_POSTGRESQL: Load(3_600, 1, 4, 1)}
PEERS = {
    NGINX: Load(20_000, 1, 1, 1),
    FASTAPI: Load(1_000, 1, 5, 1),
    **{name: Load(1_000 + 100 * place, 1, 5, 1) for place, name in enumerate(BARE)},
    **{name: Load(300, 1, 8, 1) for name in DRF},
}
ALL = limits(OURS | PEERS, {})


def test_with_everybody_there_all_is_measured():
    assert len(ALL) == 15
    assert all(limit.is_met for limit in ALL)


def test_throughput_is_held_to_the_best_bare_view():
    assert f"{SITE_SQLITE} / {BARE[-1]}" in [limit.what for limit in ALL]


@pytest.mark.parametrize("gone", [FASTAPI, NGINX, *DRF])
def test_a_peer_that_is_not_there_takes_no_limit_with_it(gone):
    there = {name: load for name, load in PEERS.items() if name != gone}
    found = limits(OURS | there, {gone: "it is not installed"})
    assert [limit.what for limit in found] == [limit.what for limit in ALL]
    for limit in found:
        named = f" / {gone}" in limit.what
        assert limit.is_measured != named
        assert limit.why_not == ("it is not installed" if named else "")


def test_without_wrk_every_limit_says_so(monkeypatch):
    monkeypatch.setattr(wrk, "is_installed", lambda _program: False)
    found = section.run(None).limits
    assert len(found) == len(ALL)
    assert {limit.verdict for limit in found} == {"not measured: wrk is not installed"}
