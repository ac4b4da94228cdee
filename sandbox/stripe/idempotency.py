"""Idempotency keys: a repeated request gets the stored response, a different one an error.

Only successful responses are stored. Stripe does not store failed validation
either, and a retry after an injected error must be able to succeed.
"""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from threading import Lock

from sandbox.capped_store import CappedStore
from sandbox.http_messages import Response
from sandbox.stripe.errors import StripeError


class Idempotency:
    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: CappedStore[tuple[str, Response]] = CappedStore()
        self._in_progress: set[str] = set()

    def once(self, key: str, request: bytes, work: Callable[[], Response]) -> Response:
        """Call `work`, or return the response of the first request with this key."""
        fingerprint = sha256(request).hexdigest()
        with self._lock:
            known = self._answers.get(key)
            if known is None and key in self._in_progress:
                raise StripeError(
                    "There is currently another in-progress request using this Idempotent Key.",
                    status=409,
                    kind="idempotency_error",
                    code="idempotency_key_in_use",
                )
            if known is None:
                self._in_progress.add(key)
        if known:
            return _replayed(key, fingerprint, *known)
        try:
            response = work()
            if response.status < 300:
                self._answers.put(key, (fingerprint, response))
            return response
        finally:
            with self._lock:
                self._in_progress.discard(key)

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
