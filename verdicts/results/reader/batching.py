"""Batches queued lookups, up to N per query, in one thread beside the event loop.

Lookups that arrive while a query runs share the next one, so a lookup costs less under load.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

from verdicts.results.reader.lookup import CachedEntry

Find = Callable[[list[str]], dict[str, CachedEntry]]


class _Waiting(NamedTuple):
    session_id: str
    answer: "asyncio.Future[CachedEntry | None]"


class Batching:
    def __init__(self, find: Find, *, max_batch: int) -> None:
        """`find` must not raise."""
        self._find = find
        self._max_batch = max_batch
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = threading.Thread(target=self._run, name="lookups", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def submit(self, session_id: str) -> "asyncio.Future[CachedEntry | None]":
        answer: asyncio.Future[CachedEntry | None] = self._loop.create_future()
        self._queue.put(_Waiting(session_id, answer))
        return answer

    def _run(self) -> None:
        while True:
            size = max(1, min(self._queue.qsize(), self._max_batch))
            taken = [self._queue.get() for _ in range(size)]
            batch = [one for one in taken if one is not None]
            if batch:
                found = self._find([one.session_id for one in batch])
                self._loop.call_soon_threadsafe(_resolve, batch, found)
            if len(batch) < len(taken):
                return


def _resolve(batch: list[_Waiting], found: dict[str, CachedEntry]) -> None:
    for session_id, answer in batch:
        if not answer.done():  # cancelled if the client has disconnected
            answer.set_result(found.get(session_id))
