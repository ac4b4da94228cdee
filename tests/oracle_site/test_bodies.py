import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from oracle_site import bodies
from oracle_site.bodies import Bodies


class Sender:
    """Sends its body once it is told to."""

    def __init__(self) -> None:
        self.begun, self.goes_on = threading.Event(), threading.Event()

    def read(self, size: int, /) -> bytes:
        self.begun.set()
        assert self.goes_on.wait(30)
        return b"body"[:size]


class Whole:
    def read(self, size: int, /) -> bytes:
        time.sleep(0.005)  # others get their turn meanwhile
        return b"whole"[:size]


@pytest.fixture
def threads():
    with ThreadPoolExecutor(8) as pool:
        yield pool


def test_however_many_come_at_once_each_gets_its_turn(threads):
    taken = Bodies(4)
    reads = [threads.submit(taken.read, Whole(), 3) for _ in range(200)]
    assert {one.result(30) for one in reads} == {b"who"}


def test_who_sends_slowly_keeps_all_threads_but_one(threads, monkeypatch):
    monkeypatch.setattr(bodies, "SLOW", 0.05)
    taken, slow = Bodies(4), [Sender() for _ in range(3)]
    reads = [threads.submit(taken.read, one, 9) for one in slow]
    assert all(one.begun.wait(30) for one in slow)
    time.sleep(0.1)
    began = time.monotonic()
    assert taken.read(Whole(), 9) is None
    assert time.monotonic() - began < bodies.PATIENCE  # at once
    for one in slow:
        one.goes_on.set()
    assert [one.result(30) for one in reads] == [b"body"] * 3
    assert taken.read(Whole(), 9) == b"whole"


def test_one_that_fails_leaves_its_place(threads):
    class Gone:
        def read(self, _size: int, /) -> bytes:
            raise ConnectionResetError

    taken = Bodies(2)
    for _ in range(3):
        with pytest.raises(ConnectionResetError):
            taken.read(Gone(), 9)
    assert taken.read(Whole(), 9) == b"whole"
