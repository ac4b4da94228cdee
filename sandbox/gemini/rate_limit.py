"""Rate limit of the model in requests per second; the others get 429, as from Gemini."""

import time
from threading import Lock


class RateLimit:
    def __init__(self) -> None:
        self._lock = Lock()
        self._free_from = 0.0

    def allows(self, rate: float) -> bool:
        """Whether another request is within `rate` per second; 0 means no limit."""
        if not rate:
            return True
        now = time.monotonic()
        with self._lock:
            if now < self._free_from:
                return False
            self._free_from = now + 1 / rate
        return True
