"""Requests and replies as the stand-ins see them, free of sockets.

A reply is a Response, or one of the ways in which a server fails to give one:
HangUp closes the connection without a word, Dribble never comes to an end.
"""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sandbox.faults import Rule

JSON_TYPE = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str  # as it stood in the request line
    headers: dict[str, str]  # names in lower case
    body: bytes
    fault: Rule | None = None

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The query string; of a repeated name the last one counts."""
        parsed = parse_qs(urlsplit(self.target).query, keep_blank_values=True)
        return {name: values[-1] for name, values in parsed.items()}

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; no body at all is an empty one."""
        if not self.body.strip():
            return {}
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise BadRequest(f"The body is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise BadRequest("The body must be a JSON object.")
        return value

    def form(self) -> dict[str, str]:
        try:
            parsed = parse_qs(self.body.decode(), keep_blank_values=True, max_num_fields=1_000)
        except ValueError as error:
            raise BadRequest(f"The body is not a form: {error}") from None
        return {name: values[-1] for name, values in parsed.items()}

    def segment(self, position: int) -> str:
        """One part of the path, decoded: of `/pay/cs_1` the parts are `pay` and `cs_1`."""
        return unquote(self.path.split("/")[position + 1])


@dataclass(frozen=True, slots=True)
class Response:
    status: int = 200
    body: bytes = b""
    content_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HangUp:
    """The connection is closed without an answer."""


@dataclass(frozen=True, slots=True)
class Dribble:
    """An answer begins, and goes on byte by byte until the reader leaves."""

    pause: float = 0.2


Reply = Response | HangUp | Dribble


class Refusal(Exception):
    """Raised instead of answering, by whatever finds that it cannot."""

    def response(self) -> Response:
        raise NotImplementedError


class BadRequest(Refusal):
    """What was sent cannot be used; the sentence says why. Becomes a 400."""

    def response(self) -> Response:
        return as_json({"error": str(self)}, 400)


def as_json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    return Response(status, body, JSON_TYPE, headers or {})


def see_other(location: str) -> Response:
    """Send the browser on with a GET."""
    # A header is one line of Latin-1, whatever the address holds.
    safe = "".join(c if " " < c < "\x7f" else "" for c in location)
    return Response(303, b"", "text/plain", {"Location": safe})
