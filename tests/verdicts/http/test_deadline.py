import asyncio
import multiprocessing
import threading

import pytest

from verdicts.http.deadline import loop, within


async def answer(seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return threading.current_thread().name


def test_the_call_runs_on_the_loop_of_this_process():
    assert within(5, answer()) == "outside"
    assert loop() is loop()


def test_a_call_is_cancelled_when_its_time_is_up():
    cancelled = threading.Event()

    async def stubborn() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError):
        within(0.05, stubborn())
    assert cancelled.wait(5)


def test_a_loop_that_others_keep_busy_holds_nobody_for_ever(monkeypatch):
    monkeypatch.setattr("verdicts.http.deadline.GRACE", 0.05)
    given_up = threading.Event()

    async def blocks() -> bool:
        return given_up.wait(30)  # as no coroutine should

    with pytest.raises(TimeoutError):
        within(0.05, blocks())
    given_up.set()
    assert within(5, answer()) == "outside"


def test_an_error_of_the_call_is_the_callers():
    async def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        within(5, fail())


def test_a_forked_child_starts_a_loop_of_its_own():
    within(5, answer())  # there is one in this process already
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=lambda: results.put(within(5, answer())))
    child.start()
    assert results.get(timeout=10) == "outside"
    child.join(10)
