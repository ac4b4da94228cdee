"""Measurements of the datasets are interleaved, so that other load affects all of them alike."""

from types import SimpleNamespace

from benchmarks.dataset.config import Dataset
from benchmarks.growth import measure
from benchmarks.progress import ProgressBar

DATASETS = [Dataset(10, "", ""), Dataset(100, "", "")]


class FakeSwitcher:
    """Records the datasets entered; each has a log with one line per order."""

    def __init__(self) -> None:
        self.datasets, self.entered = DATASETS, []

    def enter(self, dataset: Dataset) -> None:
        self.entered.append(dataset.orders)

    def verify(self) -> int:
        return self.entered[-1]


def test_each_log_is_verified_three_times_interleaved(monkeypatch):
    # Start and end of each run: the second round is slow.
    clock = iter([0, 1, 0, 1, 0, 9, 0, 9, 0, 2, 0, 2])
    monkeypatch.setattr(measure, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    switcher = FakeSwitcher()
    assert measure.measure_verification(switcher, ProgressBar("")) == {10: 5.0, 100: 50.0}
    assert switcher.entered == [10, 100] * 3


def test_every_indexed_operation_has_a_limit():
    assert {"cached read", "miss", "comparison", "webhook", "order by email"} == {*measure.INDEXED}
    assert {*measure.INDEXED} <= {*measure.REPETITIONS}
