"""Access tokens of the client-credentials grant, and when they end."""

import secrets
import time
from collections.abc import Callable

from sandbox.bounded import Bounded


class Tokens:
    """Thread-safe. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: Bounded[float] = Bounded()

    def issue(self, seconds: int) -> str:
        token = f"sandbox.{secrets.token_urlsafe(48)}"
        self._ends.put(token, self._clock() + seconds)
        return token

    def is_valid(self, token: str) -> bool:
        ends = self._ends.get(token)
        return ends is not None and self._clock() < ends

    def clear(self) -> None:
        """End every token, whatever its time."""
        self._ends.clear()
