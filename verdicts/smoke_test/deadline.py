"""How long a smoke test waits: one time for all of it, and nothing waits longer."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from audit.management.terminal import ProgressBar

T = TypeVar("T")

FIRST_PAUSE: Final = 0.05
MAX_PAUSE: Final = 0.5
# So that what is asked at the very end can still be answered.
LAST_CALL: Final = 1.0


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def up_to(self, seconds: float) -> float:
        """As long as that, or as long as is left."""
        return max(LAST_CALL, min(seconds, self._end - time.monotonic()))

    def wait_for(self, what: str, look: Callable[[], T | None]) -> T | None:
        """What `look` finds, as soon as it finds something; None: the time is up."""
        begun, pause = time.monotonic(), FIRST_PAUSE
        with ProgressBar(f"s, waiting for {what}") as tick:
            while (found := look()) is None:
                now = time.monotonic()
                if now >= self._end:
                    return None
                tick(int(now - begun))
                time.sleep(min(pause, self._end - now))
                pause = min(pause * 1.5, MAX_PAUSE)
        return found
