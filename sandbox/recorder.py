"""What the product really sent: every request to one of the three APIs, byte for byte.

Secrets are kept too: nothing that reaches a sandbox is one.
"""

from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from sandbox.bounded import MAX_BYTES, MAX_ITEMS, Bounded
from sandbox.wire import Request


@dataclass(frozen=True, slots=True)
class Recorded:
    id: int
    at: datetime
    api: str
    request: Request

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "at": self.at.isoformat(),
            "target": self.api,
            "method": self.request.method,
            "path": self.request.target,
            "headers": self.request.headers,
            "body": self.request.text,
            "body_base64": b64encode(self.request.body).decode(),
            "fault": self.request.fault.fault if self.request.fault else None,
        }


class Recorder:
    """Requests in order of arrival. Thread-safe and bounded."""

    def __init__(self, most: int = MAX_ITEMS, most_bytes: int = MAX_BYTES) -> None:
        self._lock = Lock()
        self._last = 0
        self._kept: Bounded[Recorded] = Bounded(
            most, size=lambda entry: len(entry.request.body), most_bytes=most_bytes
        )

    def add(self, api: str, request: Request) -> None:
        with self._lock:  # numbers and places are given out in the same order
            self._last += 1
            entry = Recorded(self._last, datetime.now(UTC), api, request)
            self._kept.put(str(entry.id), entry)

    def entries(self, *, api: str | None = None, after: int = 0) -> list[Recorded]:
        """In order of arrival; `after` leaves out what a reader has seen already."""
        return [
            entry
            for entry in self._kept.oldest_first()
            if entry.id > after and api in (None, entry.api)
        ]

    def clear(self) -> None:
        self._kept.clear()
