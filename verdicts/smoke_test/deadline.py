"""One deadline for a whole smoke test, which bounds every request and every wait."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from audit.management.terminal import ProgressBar

T = TypeVar("T")

MIN_PAUSE: Final = 0.05
MAX_PAUSE: Final = 0.5
# Even a request made at the deadline gets this long.
MIN_TIMEOUT: Final = 1.0


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def timeout(self, seconds: float) -> float:
        """The remaining time, at most `seconds`."""
        return max(MIN_TIMEOUT, min(seconds, self._end - time.monotonic()))

    def wait_for(self, what: str, poll: Callable[[], T | None]) -> T | None:
        """The first result of `poll` that is not None; None after the deadline.

        Polls at least once, and once more when the deadline has passed.
        """
        started, pause = time.monotonic(), MIN_PAUSE
        with ProgressBar(f"s, waiting for {what}") as tick:
            while (found := poll()) is None:
                now = time.monotonic()
                if now >= self._end:
                    return None
                tick(int(now - started))
                time.sleep(min(pause, self._end - now))
                pause = min(pause * 1.5, MAX_PAUSE)
        return found
