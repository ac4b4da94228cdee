"""A typed HTTP client for the /_control/ interface of a running sandbox.

The sandbox may run in this process or in another.
"""

import json
import time
from base64 import b64decode
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

Json = dict[str, Any]


class ControlError(Exception):
    """The sandbox rejected the request; the message is its response."""


class SandboxClient:
    def __init__(self, url: str) -> None:
        self.url = url

    # Faults and settings

    def fault(
        self,
        target: str,
        fault: str,
        *,
        times: int | None = 1,
        share: float = 1.0,
        match: str = "",
        **more: Any,
    ) -> Json:
        """Queue a rule; `more` is seconds, label, field or mark."""
        rule = {"target": target, "fault": fault, "times": times, "share": share, "match": match}
        return self.call("POST", "faults", {**rule, **more})

    def faults(self) -> list[Json]:
        return list(self.call("GET", "faults")["faults"])

    def remove_fault(self, number: int) -> bool:
        """Remove one rule by its id; False if it no longer exists."""
        return bool(self.call("DELETE", f"faults/{number}")["removed"])

    def clear_faults(self) -> None:
        self.call("DELETE", "faults")

    def settings(self, **wanted: Any) -> Json:
        return self.call("POST", "settings", wanted)

    def reset(self) -> None:
        self.call("POST", "reset")

    def health(self) -> Json:
        return self.call("GET", "health")

    # Recorded requests and messages

    def requests(self, target: str | None = None) -> list[Json]:
        """In order of arrival; `raw` holds the bytes of each body."""
        query = f"?target={target}" if target else ""
        found = list(self.call("GET", f"requests{query}")["requests"])
        return [{**each, "raw": b64decode(each["body_base64"])} for each in found]

    def clear_requests(self) -> None:
        self.call("DELETE", "requests")

    def messages(self, to: str | None = None) -> list[Json]:
        query = f"?{urlencode({'to': to})}" if to else ""
        return list(self.call("GET", f"messages{query}")["messages"])

    def expire_tokens(self) -> None:
        self.call("POST", "tokens/expire")

    # Payments

    def sessions(self) -> list[Json]:
        return list(self.call("GET", "sessions")["sessions"])

    def create_session(self, **fields: Any) -> Json:
        """Add a session that this product did not create, with the given fields."""
        return self.call("POST", "sessions", fields)

    def pay(self, session_id: str, **how: Any) -> Json:
        """`how`: method (card, delayed), email, custom_fields, announce."""
        return self.call("POST", f"pay/{quote(session_id, safe='')}", how)

    def settle(self, session_id: str, *, succeeded: bool = True) -> Json:
        outcome = "succeeded" if succeeded else "failed"
        return self.call("POST", f"settle/{quote(session_id, safe='')}", {"outcome": outcome})

    def expire(self, session_id: str) -> Json:
        return self.call("POST", f"expire/{quote(session_id, safe='')}")

    def refund(self, session_id: str, amount: int | None = None) -> Json:
        return self.call("POST", f"refund/{quote(session_id, safe='')}", {"amount": amount})

    def fail_refund(self, session_id: str) -> Json:
        return self.call("POST", f"fail_refund/{quote(session_id, safe='')}")

    def events(self) -> list[Json]:
        return list(self.call("GET", "events")["events"])

    def send_event(self, kind: str, obj: Json) -> Json:
        return self.call("POST", "events", {"type": kind, "object": obj})

    def resend(self, event_id: str, *, count: int = 1, parallel: bool = False) -> list[int | str]:
        """The HTTP status of each delivery, or the error."""
        how = {"count": count, "parallel": parallel}
        return list(self.call("POST", f"events/{event_id}/resend", how)["results"])

    def wait_for_webhooks(self, seconds: float = 10.0) -> None:
        """Block until every webhook is delivered or given up."""
        deadline = time.monotonic() + seconds
        while self.health()["webhooks_pending"]:
            if time.monotonic() > deadline:
                raise TimeoutError("webhooks are still pending")
            time.sleep(0.01)

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        """Any control by its path: `call("GET", "health")`."""
        parts = urlsplit(self.url)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"/_control/{path}", sent)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status >= 400:
            raise ControlError(f"{response.status}: {answer['error']}")
        return dict(answer)
