"""The limits under load, on each database."""

from types import SimpleNamespace

import pytest

from benchmarks.cached import under_load, wrk
from benchmarks.cached.wrk import Load
from benchmarks.dataset.history import session_id
from benchmarks.report import Limit

MEMORY = {"SQLite": (70.0, 71.0), "PostgreSQL": (80.0, 100.0)}
ALONE, LOADED = Load(1_000, 1, 10, 1), Load(900, 1, 12, 1)


@pytest.fixture
def found(monkeypatch, tmp_path) -> dict[str, Limit]:
    """The limits of a run with these measurements."""
    monkeypatch.setattr(wrk, "is_installed", lambda _program: True)
    monkeypatch.setattr(under_load, "_measure", lambda *_: (ALONE, LOADED))
    monkeypatch.setattr(
        under_load, "_reader_memory", lambda _folder, dataset, _ids: MEMORY[dataset]
    )
    monkeypatch.setattr(under_load, "_web_memory", lambda _folder, _dataset: (80.0, 81.0))
    datasets = SimpleNamespace(
        folder=tmp_path,
        filled=lambda engine, _orders: SimpleNamespace(dataset=engine),
        sandbox=SimpleNamespace(settings=lambda **_: None),
    )
    limits = under_load.run(datasets, orders=10).limits
    assert session_id(1) in (tmp_path / "hits.txt").read_text()
    return {limit.name: limit for limit in limits}


def test_every_limit_is_measured(found):
    assert [*found] == [limit.name for limit in under_load.LIMITS]
    assert all(limit.is_measured for limit in found.values())


@pytest.mark.parametrize("engine", MEMORY)
def test_memory_has_its_limits_on_each_database(found, engine):
    first, second = MEMORY[engine]
    memory = found[f"{engine}: memory after 200,000 hits"]
    growth = found[f"{engine}: memory after 400,000 hits / after 200,000"]
    assert (memory.value, memory.required) == (first, "at most 90.0 MB")
    assert (growth.value, growth.required) == (second / first, "at most 1.05")
    assert growth.is_met == (engine == "SQLite")


def test_without_wrk_every_limit_says_so(monkeypatch):
    monkeypatch.setattr(wrk, "is_installed", lambda _program: False)
    limits = under_load.run(None).limits
    assert [limit.name for limit in limits] == [limit.name for limit in under_load.LIMITS]
    assert {limit.status for limit in limits} == {"not measured: wrk is not installed"}
