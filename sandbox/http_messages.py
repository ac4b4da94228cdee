"""Requests and replies as handlers see them, without sockets.

A reply is a Response, or a way of failing to send one: HangUp closes the
connection without a response, Dribble sends one that never ends.
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
    target: str  # as in the request line
    headers: dict[str, str]  # names in lower case
    body: bytes
    fault: Rule | None = None

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The query parameters; the last value of a repeated name wins."""
        parsed = parse_qs(urlsplit(self.target).query, keep_blank_values=True)
        return {name: values[-1] for name, values in parsed.items()}

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; an empty body is an empty object."""
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
        """One path segment, decoded: those of `/pay/cs_1` are `pay` and `cs_1`."""
        return unquote(self.path.split("/")[position + 1])


@dataclass(frozen=True, slots=True)
class Response:
    status: int = 200
    body: bytes = b""
    content_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection without a response."""


@dataclass(frozen=True, slots=True)
class Dribble:
    """Start a response and send it byte by byte until the client disconnects."""

    pause: float = 0.2


Reply = Response | HangUp | Dribble


class HttpError(Exception):
    """An exception that carries its own error response."""

    def response(self) -> Response:
        raise NotImplementedError


class BadRequest(HttpError):
    """An invalid request: a 400 whose message says why."""

    def response(self) -> Response:
        return as_json({"error": str(self)}, 400)


def as_json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    return Response(status, body, JSON_TYPE, headers or {})


def see_other(location: str) -> Response:
    """303: redirect the browser to a GET."""
    # Printable ASCII only, so that a URL cannot inject a header.
    safe = "".join(c if " " < c < "\x7f" else "" for c in location)
    return Response(303, b"", "text/plain", {"Location": safe})
