"""Every limit of cached reads is reported, whichever peers are installed."""

import pytest

from benchmarks.cached import throughput, wrk
from benchmarks.cached.targets import BARE, DRF, FASTAPI, NGINX, SITE_POSTGRESQL, SITE_SQLITE
from benchmarks.cached.throughput import limits
from benchmarks.cached.wrk import Load

OURS = {SITE_SQLITE: Load(9_000, 1, 2, 1), SITE_POSTGRESQL: Load(3_600, 1, 4, 1)}
PEERS = {
    NGINX: Load(20_000, 1, 1, 1),
    FASTAPI: Load(1_000, 1, 5, 1),
    **{name: Load(1_000 + 100 * index, 1, 5, 1) for index, name in enumerate(BARE)},
    **{name: Load(300, 1, 8, 1) for name in DRF},
}
ALL = limits(OURS | PEERS, {})


def test_with_all_peers_every_limit_is_measured():
    assert len(ALL) == 15
    assert all(limit.is_met for limit in ALL)


def test_throughput_is_compared_with_the_fastest_bare_view():
    assert f"{SITE_SQLITE} / {BARE[-1]}" in [limit.name for limit in ALL]


@pytest.mark.parametrize("missing", [FASTAPI, NGINX, *DRF])
def test_limits_of_a_missing_peer_are_reported(missing):
    installed = {name: load for name, load in PEERS.items() if name != missing}
    found = limits(OURS | installed, {missing: "it is not installed"})
    assert [limit.name for limit in found] == [limit.name for limit in ALL]
    for limit in found:
        affected = f" / {missing}" in limit.name
        assert limit.is_measured != affected
        assert limit.skip_reason == ("it is not installed" if affected else "")


def test_without_wrk_every_limit_says_so(monkeypatch):
    monkeypatch.setattr(wrk, "is_installed", lambda _program: False)
    found = throughput.run(None).limits
    assert len(found) == len(ALL)
    assert {limit.status for limit in found} == {"not measured: wrk is not installed"}
