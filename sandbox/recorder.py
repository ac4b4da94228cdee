"""Records every request to one of the three APIs, byte for byte.

Headers with credentials are kept too: a sandbox never receives real ones.
"""

from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from sandbox.capped_store import MAX_BYTES, MAX_ITEMS, CappedStore
from sandbox.http_messages import Request


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
    """Requests in order of arrival. Thread-safe, with a size limit."""

    def __init__(self, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES) -> None:
        self._lock = Lock()
        self._last = 0
        self._kept: CappedStore[Recorded] = CappedStore(
            max_items, size=lambda entry: len(entry.request.body), max_bytes=max_bytes
        )

    def add(self, api: str, request: Request) -> None:
        with self._lock:  # ids are assigned in the order of storage
            self._last += 1
            entry = Recorded(self._last, datetime.now(UTC), api, request)
            self._kept.put(str(entry.id), entry)

    def entries(self, *, api: str | None = None, after: int = 0) -> list[Recorded]:
        """In order of arrival; only entries with an id above `after`."""
        return [
            entry
            for entry in self._kept.oldest_first()
            if entry.id > after and api in (None, entry.api)
        ]

    def clear(self) -> None:
        self._kept.clear()
