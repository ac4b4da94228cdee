"""Places for slow work in one process: whoever finds none does something else than wait (R6)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Slots:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.taken = 0

    @contextmanager
    def take(self, *, of: int) -> Iterator[bool]:
        """Whether one of so many places was free; it is ours for the block."""
        with self._lock:
            free = self.taken < of
            self.taken += free
        try:
            yield free
        finally:
            with self._lock:
                self.taken -= free
