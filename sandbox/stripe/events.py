"""Stripe's events: a snapshot of an object, and its delivery attempts."""

import hmac
import json
import time
from collections import deque
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from sandbox.stripe.ids import new_id

API_VERSION: Final = "2026-10-28.endive"


@dataclass(frozen=True, slots=True)
class Event:
    data: dict[str, Any]
    payload: bytes  # what is signed and sent, the same bytes each time
    deliveries: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=50))

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def kind(self) -> str:
        return str(self.data["type"])


def new_event(kind: str, obj: dict[str, Any]) -> Event:
    data = {
        "id": new_id("evt"),
        "object": "event",
        "api_version": API_VERSION,
        "created": int(time.time()),
        "data": {"object": obj},
        "livemode": False,
        "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None},
        "type": kind,
    }
    payload = json.dumps(data, indent=2).encode()
    # Parsed from the payload: a copy, so that later changes to the object do not alter it.
    return Event(json.loads(payload), payload)


def signature(payload: bytes, secret: str, at: int) -> str:
    """The value of the Stripe-Signature header."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + payload, sha256).hexdigest()
    return f"t={at},v1={signed}"
