"""What is promised of a web process under strain, on each database."""

from types import SimpleNamespace

import pytest

from benchmarks.cached import crowded, wrk
from benchmarks.cached.wrk import Load
from benchmarks.dataset.history import session_id
from benchmarks.report import Limit

TAKEN = {"SQLite": (70.0, 71.0), "PostgreSQL": (80.0, 100.0)}
ALONE, CROWDED = Load(1_000, 1, 10, 1), Load(900, 1, 12, 1)


@pytest.fixture
def found(monkeypatch, tmp_path) -> dict[str, Limit]:
    """Of a run in which the measurements are these."""
    monkeypatch.setattr(wrk, "is_installed", lambda _program: True)
    monkeypatch.setattr(crowded, "_in_turns", lambda *_: (ALONE, CROWDED))
    monkeypatch.setattr(crowded, "_memory", lambda _folder, place, _ids: TAKEN[place])
    monkeypatch.setattr(crowded, "_web_memory", lambda _folder, _place: (80.0, 81.0))
    houses = SimpleNamespace(
        folder=tmp_path,
        filled=lambda kind, _orders: SimpleNamespace(place=kind),
        sandbox=SimpleNamespace(settings=lambda **_: None),
    )
    limits = crowded.run(houses, orders=10).limits
    assert session_id(1) in (tmp_path / "hits.txt").read_text()
    return {limit.what: limit for limit in limits}


def test_all_that_was_promised_is_measured(found):
    assert [*found] == [limit.what for limit in crowded.PROMISED]
    assert all(limit.is_measured for limit in found.values())


@pytest.mark.parametrize("kind", TAKEN)
def test_memory_is_held_to_its_limit_on_each_database(found, kind):
    first, second = TAKEN[kind]
    memory = found[f"{kind}: memory after 200,000 hits"]
    grown = found[f"{kind}: memory after as many again / before"]
    assert (memory.figure, memory.promise) == (first, "at most 90.0 MB")
    assert (grown.figure, grown.promise) == (second / first, "at most 1.05")
    assert grown.is_met == (kind == "SQLite")


def test_without_wrk_every_limit_says_so(monkeypatch):
    monkeypatch.setattr(wrk, "is_installed", lambda _program: False)
    limits = crowded.run(None).limits
    assert [limit.what for limit in limits] == [limit.what for limit in crowded.PROMISED]
    assert {limit.verdict for limit in limits} == {"not measured: wrk is not installed"}
