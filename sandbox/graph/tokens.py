"""Access tokens of the client-credentials grant, and their expiry."""

import secrets
import time
from collections.abc import Callable

from sandbox.capped_store import CappedStore


class Tokens:
    """Thread-safe. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._expires_at: CappedStore[float] = CappedStore()

    def issue(self, seconds: int) -> str:
        token = f"sandbox.{secrets.token_urlsafe(48)}"
        self._expires_at.put(token, self._clock() + seconds)
        return token

    def is_valid(self, token: str) -> bool:
        expires_at = self._expires_at.get(token)
        return expires_at is not None and self._clock() < expires_at

    def clear(self) -> None:
        """Expire every token now."""
        self._expires_at.clear()
