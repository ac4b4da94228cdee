"""Asks a WSGI application, and counts what the fast lane reads for it."""

import io
from collections.abc import Callable
from typing import Any
from wsgiref.util import setup_testing_defaults

Answer = tuple[str, list[tuple[str, str]], bytes]


def question(session_id: str, **changes: str) -> dict[str, Any]:
    """The environ of a request; a change to "" takes the key out."""
    environ: dict[str, Any] = {
        "PATH_INFO": "/api/verdict",
        "QUERY_STRING": f"session_id={session_id}",
        "HTTP_HOST": "127.0.0.1",
        **changes,
    }
    setup_testing_defaults(environ)
    environ["wsgi.input"] = io.BytesIO()
    return {key: value for key, value in environ.items() if value != ""}


def answer(application: Callable[..., Any], environ: dict[str, Any]) -> Answer:
    heard: list[Any] = []
    parts = application(environ, lambda *said: heard.extend(said))
    body = b"".join(parts)
    if hasattr(parts, "close"):
        parts.close()
    return heard[0], heard[1], body


class Counting:
    """A reader that notes what it is asked together."""

    def __init__(self, reader: Any, looked: list[list[str]]) -> None:
        self._reader, self._looked = reader, looked

    def find(self, session_ids: list[str]) -> Any:
        self._looked.append(session_ids)
        return self._reader.find(session_ids)

    def close(self) -> None:
        self._reader.close()
