"""Takes in the bodies of requests, in all threads but one: that one is for requests without.

A proxy hands a body on whole, and then it is here in no time, however many come at
once: each waits for its turn. Whoever sends one a byte a minute keeps a thread; once
all that may be kept are kept so, whoever comes is turned away at once.
"""

import time
from threading import Semaphore, get_ident
from typing import Final, Protocol

SLOW: Final = 1.0  # seconds after which a body is no longer one that a proxy handed on
PATIENCE: Final = 3.0  # seconds to wait for one's turn


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Bodies:
    def __init__(self, threads: int) -> None:
        """`threads` is how many there are to take in requests."""
        self._places = max(1, threads - 1)
        self._free = Semaphore(self._places)
        self._began: dict[int, float] = {}  # by thread

    def read(self, stream: Stream, size: int) -> bytes | None:
        """At most so many bytes; None: it cannot be taken in now."""
        if not self._free.acquire(timeout=0 if self._all_slow() else PATIENCE):
            return None
        self._began[get_ident()] = time.monotonic()
        try:
            return stream.read(size)
        finally:
            del self._began[get_ident()]
            self._free.release()

    def _all_slow(self) -> bool:
        began = list(self._began.values())
        return len(began) == self._places and max(began) < time.monotonic() - SLOW
