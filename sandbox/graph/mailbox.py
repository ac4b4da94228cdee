"""The accepted messages, oldest first, numbered."""

from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from sandbox.capped_store import MAX_ITEMS, CappedStore


@dataclass(frozen=True, slots=True)
class Mail:
    """A parsed message; `raw` is what was sent."""

    sender: str
    sent_from: str
    to: tuple[str, ...]  # addresses only, with cc and bcc
    subject: str
    message_id: str | None
    text: str | None
    html: str | None
    headers: tuple[tuple[str, str], ...]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Received:
    number: int
    at: datetime
    mail: Mail

    def as_dict(self) -> dict[str, Any]:
        mail = self.mail
        return {
            "number": self.number,
            "received_at": self.at.isoformat(),
            "sender": mail.sender,
            "from": mail.sent_from,
            "to": list(mail.to),
            "subject": mail.subject,
            "message_id": mail.message_id,
            "text": mail.text,
            "html": mail.html,
            "headers": dict(mail.headers),
        }


class Mailbox:
    """Thread-safe, with a size limit."""

    def __init__(self, max_items: int = MAX_ITEMS) -> None:
        self._lock = Lock()
        self._last = 0
        self._kept: CappedStore[Received] = CappedStore(
            max_items, size=lambda each: len(each.mail.raw)
        )

    def accept(self, mail: Mail) -> Received:
        with self._lock:
            self._last += 1
            received = Received(self._last, datetime.now(UTC), mail)
            self._kept.put(str(received.number), received)
        return received

    def get(self, number: str) -> Received | None:
        return self._kept.get(number)

    def received(self, *, to: str | None = None) -> list[Received]:
        """Oldest first; `to` is one address, compared without case."""
        wanted = to.casefold() if to else None
        return [
            each
            for each in self._kept.oldest_first()
            if wanted is None or wanted in (address.casefold() for address in each.mail.to)
        ]

    def clear(self) -> None:
        with self._lock:
            self._last = 0
            self._kept.clear()
