"""Calls that may block, beside the event loop."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_thread(call: Callable[[], T]) -> asyncio.Future[T]:
    """The answer of a call that may take long, or for ever: no exit waits for it.

    That is why it is not `asyncio.to_thread`, whose threads are joined at the end.
    """
    answer: Future[T] = Future()
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(call())
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits the answer
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return asyncio.wrap_future(answer)
