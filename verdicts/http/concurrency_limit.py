"""A limit on concurrent slow work in one process. Callers over the limit do not wait (R6)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ConcurrencyLimit:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.in_use = 0

    @contextmanager
    def acquire(self, *, limit: int) -> Iterator[bool]:
        """Whether fewer than `limit` were in use; if so, one is held until the block ends."""
        with self._lock:
            acquired = self.in_use < limit
            self.in_use += acquired
        try:
            yield acquired
        finally:
            with self._lock:
                self.in_use -= acquired
