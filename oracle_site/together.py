"""A thread that deals with things together: all that are there by the time it has a turn.

The more are waiting, the less each costs where much of it is paid once for all.
"""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

Thing = TypeVar("Thing")


class Together(Generic[Thing]):
    def __init__(self, deal_with: Callable[[list[Thing]], None], *, most: int) -> None:
        """`deal_with` gets one to `most` of them, in their order."""
        self._deal_with = deal_with
        self._most = most
        self._waiting: SimpleQueue[Thing | None] = SimpleQueue()
        # In nobody's way where a process ends by an error, and so without `end`.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def put(self, thing: Thing) -> None:
        self._waiting.put(thing)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Waits until everything was dealt with that was put in before."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            there = min(self._waiting.qsize(), self._most)
            taken = [self._waiting.get() for _ in range(there or 1)]
            ended = None in taken  # and not only last: somebody may come late
            if things := [one for one in taken if one is not None]:
                self._safely_deal_with(things)

    def _safely_deal_with(self, things: list[Thing]) -> None:
        try:
            self._deal_with(things)
        except Exception:  # whoever comes next has nothing to do with it
            logger.exception("things could not be dealt with")
