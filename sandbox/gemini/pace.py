"""How many requests a second the model takes; like Gemini it answers the others with 429."""

import time
from threading import Lock


class Pace:
    def __init__(self) -> None:
        self._lock = Lock()
        self._free_from = 0.0

    def takes(self, rate: float) -> bool:
        """Whether one more request fits into `rate` a second; 0 is without limit."""
        if not rate:
            return True
        now = time.monotonic()
        with self._lock:
            if now < self._free_from:
                return False
            self._free_from = now + 1 / rate
        return True
