"""Sends the same request to the RSGI reader and to the Django view."""

import asyncio
import io
from dataclasses import dataclass, field, replace
from http.client import responses
from typing import Any
from wsgiref.util import setup_testing_defaults

from django.core.handlers.wsgi import WSGIHandler

from verdicts.results.reader.application import Reader
from verdicts.results.reader.lookup import CachedEntry, open_lookup

Answer = tuple[int, list[tuple[str, str]], bytes]


class Headers:
    """Like granian's: `items` omits values that are not ASCII, `keys` has each name once."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def items(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self._pairs if value.isascii()]

    def keys(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self._pairs))


@dataclass(frozen=True)
class Asked:
    session_id: str
    method: str = "GET"
    path: str = "/api/verdict"
    query_string: str = ""
    scheme: str = "http"
    given: tuple[tuple[str, str], ...] = (("host", "127.0.0.1"),)
    headers: Headers = field(init=False)

    def __post_init__(self) -> None:
        if not self.query_string:
            object.__setattr__(self, "query_string", f"session_id={self.session_id}")
        object.__setattr__(self, "headers", Headers(list(self.given)))

    def and_(self, *pairs: tuple[str, str]) -> "Asked":
        """With additional headers, which replace those of the same name."""
        named = {name for name, _ in pairs}
        others = tuple(one for one in self.given if one[0] not in named)
        return replace(self, given=(*others, *pairs))

    def environ(self) -> dict[str, Any]:
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.method,
            "PATH_INFO": self.path,
            "QUERY_STRING": self.query_string,
            "wsgi.url_scheme": self.scheme,
        }
        for name, value in self.given:
            key = name.upper().replace("-", "_")
            environ[key if key.startswith("CONTENT_") else f"HTTP_{key}"] = value
        setup_testing_defaults(environ)
        environ["wsgi.input"] = io.BytesIO()
        return environ


class Counting:
    """A lookup that records the sessions of each query."""

    def __init__(self) -> None:
        self.queries: list[list[str]] = []
        self._lookup = open_lookup()

    def find(self, session_ids: list[str]) -> dict[str, CachedEntry]:
        self.queries.append(session_ids)
        return self._lookup.find(session_ids)

    def close(self) -> None:
        self._lookup.close()


class Protocol:
    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.answers.append((status, headers, body))

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.answers.append((status, headers, b""))


def ask_reader(reader: Reader, *asked: Asked) -> list[Answer]:
    """All requests concurrently, on a new event loop."""

    protocols = [Protocol() for _ in asked]

    async def answer_all() -> None:
        calls = zip(asked, protocols, strict=True)
        await asyncio.gather(*(reader.__rsgi__(one, protocol) for one, protocol in calls))

    with asyncio.Runner() as runner:
        reader.__rsgi_init__(runner.get_loop())
        try:
            runner.run(answer_all())
        finally:
            reader.__rsgi_del__(runner.get_loop())
    answers = [answer for protocol in protocols for answer in protocol.answers]
    assert len(answers) == len(asked)
    return answers


def ask_django(asked: Asked) -> Answer:
    started: list[Any] = []
    parts = WSGIHandler()(asked.environ(), lambda *arguments: started.extend(arguments))
    body = b"".join(parts)
    if hasattr(parts, "close"):
        parts.close()
    status = int(started[0][:3])
    assert started[0] == f"{status} {responses[status]}"
    return status, [(name.lower(), value) for name, value in started[1]], body
