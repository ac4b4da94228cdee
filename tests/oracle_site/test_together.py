import threading
from collections.abc import Callable
from typing import Any

import pytest

from oracle_site.together import Together

PATIENCE = 10


@pytest.fixture
def run() -> Callable[..., None]:
    """Puts things in, the end among them, before the thread has its first turn."""

    def through(deal_with: Callable[[list[Any]], None], *things: Any, most: int = 64) -> None:
        together = Together[Any](deal_with, most=most)
        for thing in things:
            together.put(thing)
        together.start()
        ending = threading.Thread(target=together.end, daemon=True)
        ending.start()
        ending.join(PATIENCE)
        assert not ending.is_alive()

    return through


def test_whatever_waits_is_dealt_with_together_in_its_order_and_before_the_end(run):
    dealt_with: list[list[int]] = []
    run(dealt_with.append, 1, 2, 3, 4, 5, 6, 7, most=3)
    assert dealt_with == [[1, 2, 3], [4, 5, 6], [7]]


def test_with_nothing_to_do_it_ends(run):
    run(list.clear)


def test_it_ends_though_somebody_comes_after_the_end(run):
    run(list.clear, 1, None, 2)


def test_who_comes_after_a_failure_is_dealt_with(run):
    dealt_with: list[int] = []

    def deal_with(things: list[int]) -> None:
        if things == [2]:
            raise RuntimeError("not just now")
        dealt_with.extend(things)

    run(deal_with, 1, 2, 3, most=1)
    assert dealt_with == [1, 3]


def test_who_comes_alone_waits_for_nobody():
    dealt_with = threading.Event()
    together = Together(lambda _: dealt_with.set(), most=64)
    together.start()
    together.put("this one")
    assert dealt_with.wait(PATIENCE)
    together.end()
