"""Idempotency keys: the same request gets the same answer, another one is refused.

Only successes are kept. Stripe too forgets what failed validation, and a
retry after an injected error has to get through.
"""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from threading import Lock

from sandbox.bounded import Bounded
from sandbox.stripe.errors import StripeError
from sandbox.wire import Response


class Idempotency:
    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: Bounded[tuple[str, Response]] = Bounded()
        self._under_way: set[str] = set()

    def once(self, key: str, request: bytes, work: Callable[[], Response]) -> Response:
        """Do the work, or repeat the answer it gave when this key was first used."""
        fingerprint = sha256(request).hexdigest()
        with self._lock:
            known = self._answers.get(key)
            if known is None and key in self._under_way:
                raise StripeError(
                    "There is currently another in-progress request using this Idempotent Key.",
                    status=409,
                    kind="idempotency_error",
                    code="idempotency_key_in_use",
                )
            if known is None:
                self._under_way.add(key)
        if known:
            return _replayed(key, fingerprint, *known)
        try:
            response = work()
            if response.status < 300:
                self._answers.put(key, (fingerprint, response))
            return response
        finally:
            with self._lock:
                self._under_way.discard(key)

    def clear(self) -> None:
        self._answers.clear()


def _replayed(key: str, fingerprint: str, first: str, response: Response) -> Response:
    if fingerprint != first:
        raise StripeError(
            "Keys for idempotent requests can only be used with the same parameters they were "
            f"first used with. Try using a key other than '{key}' if you meant to execute a "
            "different request.",
            kind="idempotency_error",
        )
    return replace(response, headers={**response.headers, "Idempotent-Replayed": "true"})
