"""The houses are measured in turns, so that whatever else the machine does slows all of them."""

from types import SimpleNamespace

from benchmarks.growth import measure
from benchmarks.dataset.config import Dataset
from benchmarks.progress import ProgressBar

PLACES = [Dataset(10, "", ""), Dataset(100, "", "")]


class Visited:
    """Datasets that write down who was entered, each with a log of so many lines."""

    def __init__(self) -> None:
        self.places, self.entered = PLACES, []

    def enter(self, place: Dataset) -> None:
        self.entered.append(place.orders)

    def verify(self) -> int:
        return self.entered[-1]


def test_the_log_of_each_house_is_verified_three_times_in_turns(monkeypatch):
    # Each run by its own clock: the second of the three is the slow one.
    clock = iter([0, 1, 0, 1, 0, 9, 0, 9, 0, 2, 0, 2])
    monkeypatch.setattr(measure, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    houses = Visited()
    assert measure.verified_in_turns(houses, ProgressBar("")) == {10: 5.0, 100: 50.0}
    assert houses.entered == [10, 100] * 3


def test_an_order_by_email_is_found_by_key_and_held_to_the_same_limit():
    assert {"cached read", "miss", "comparison", "webhook", "order by email"} == {*measure.BY_KEY}
    assert {*measure.BY_KEY} <= {*measure.TURNS}
