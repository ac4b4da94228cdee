import asyncio
import multiprocessing
import threading

import pytest

from verdicts.http.deadline import event_loop, run_with_deadline


async def answer(seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return threading.current_thread().name


def test_calls_run_on_one_loop_per_process():
    assert run_with_deadline(5, answer()) == "http-clients"
    assert event_loop() is event_loop()


def test_a_call_is_cancelled_at_its_deadline():
    cancelled = threading.Event()

    async def stubborn() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError):
        run_with_deadline(0.05, stubborn())
    assert cancelled.wait(5)


def test_a_blocked_loop_does_not_delay_a_timeout(monkeypatch):
    monkeypatch.setattr("verdicts.http.deadline.GRACE", 0.05)
    timed_out = threading.Event()

    async def blocks() -> bool:
        return timed_out.wait(30)  # blocks the loop, as no coroutine should

    with pytest.raises(TimeoutError):
        run_with_deadline(0.05, blocks())
    timed_out.set()
    assert run_with_deadline(5, answer()) == "http-clients"


def test_an_exception_of_the_call_reaches_the_caller():
    async def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        run_with_deadline(5, fail())


def test_a_forked_child_starts_its_own_loop():
    run_with_deadline(5, answer())  # this process has a loop now
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=lambda: results.put(run_with_deadline(5, answer())))
    child.start()
    assert results.get(timeout=10) == "http-clients"
    child.join(10)
