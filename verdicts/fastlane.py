"""Cached hits of `GET /api/verdict`, answered before Django.

A WSGI callable around Django's. It knows one question, spelt in one way, and one
answer: the body as it lies in the cache, under the headers that Django's own view
and middleware put on such an answer. Everything else, and any doubt or error,
goes on to Django, which has the last word.
"""

import gc
import io
import logging
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from http.client import responses
from typing import Final, NamedTuple
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.http.request import split_domain_port, validate_host
from django.urls import resolve
from rest_framework.request import Request

from verdicts.api.verdict import VerdictView, cached
from verdicts.core.etags import has_it
from verdicts.core.sessions import SESSION_ID
from verdicts.models import CachedVerdict
from verdicts.ready_made import Reader, ReadyMade, open_reader
from verdicts.services.hits import hits

logger = logging.getLogger(__name__)

Headers = list[tuple[str, str]]
Question = tuple[str, bool, WSGIEnvironment]  # the session, whether by HTTPS, and all of it
Answer = tuple[int, Headers, bytes]  # the headers are the caller's own

PATH: Final = "/api/verdict"
REST: Final = 1.0  # seconds for which all is left to Django after a failure
_ASKED: Final = re.compile(f"session_id=({SESSION_ID.pattern})")
_PLAIN_ACCEPT: Final = frozenset({None, "*/*", "application/json"})
_NOTHING: Final = frozenset({None, "", "0"})


class Fastlane:
    def __init__(self, django: WSGIApplication) -> None:
        self._django = django
        self._framed = Framed()
        # Whoever asks takes one out, so that no two threads ever share it. There are as
        # many as were in use at once: one in a web process of ours.
        self._free: deque[Reader] = deque()
        self._rests_until = 0.0
        # A connection that two processes share would mix up their answers.
        os.register_at_fork(after_in_child=self._free.clear)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        question = self.question(environ)
        answer = self.answers([question])[0] if question else None
        if answer is None:
            return self.pass_on(environ, start_response)
        status, headers, body = answer
        start_response(f"{status} {responses[status]}", headers)
        return [body]

    def question(self, environ: WSGIEnvironment) -> Question | None:
        """What a cached verdict could answer; None: it is for Django."""
        if environ["PATH_INFO"] != PATH or not _is_plain(environ):
            return None
        asked = _ASKED.fullmatch(environ.get("QUERY_STRING", ""))
        secure = self._https.holds_for(environ)
        if asked is None or (self._https.required and not secure):
            return None
        return asked[1], secure, environ

    def answers(self, questions: Sequence[Question]) -> list[Answer | None]:
        """Each one's, in the time of one short read for all; None: it is for Django to give."""
        found = self._find([session_id for session_id, _, _ in questions])
        answers: list[Answer | None] = []
        shown: list[int] = []
        try:
            for session_id, secure, environ in questions:
                entry = found.get(session_id)
                answers.append(entry and self._framed.answer(entry, environ, secure=secure))
                if entry:
                    shown.append(entry[2])
        except Exception as error:  # noqa: BLE001 - whatever it is, Django tries next
            self._rest("answer", error)
            answers += [None] * (len(questions) - len(answers))
        if shown:
            hits.count(*shown)
        return answers

    def pass_on(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self._django(environ, start_response)

    @cached_property
    def _https(self) -> "Https":
        return Https.of_the_settings()

    def _find(self, session_ids: list[str]) -> dict[str, ReadyMade]:
        if time.monotonic() < self._rests_until:
            return {}
        reader = None
        try:
            reader = self._taken() or open_reader()
            found = reader.find(session_ids)
        except Exception as error:  # noqa: BLE001 - whatever it is, Django tries next
            self._rest("read", error)
            if reader:
                reader.close()
            self.close()
            return {}
        self._free.append(reader)
        return found

    def _rest(self, what: str, error: Exception) -> None:
        logger.warning("the fast lane cannot %s: %s", what, type(error).__name__)
        self._rests_until = time.monotonic() + REST

    def close(self) -> None:
        """Every connection that is not in use; the next question opens one anew."""
        while reader := self._taken():
            reader.close()

    def _taken(self) -> Reader | None:
        try:
            return self._free.pop()
        except IndexError:
            return None


def _is_plain(environ: WSGIEnvironment) -> bool:
    """Whether nothing about the request but its session could change the answer."""
    return (
        environ["REQUEST_METHOD"] == "GET"
        and "HTTP_COOKIE" not in environ  # one that is odd or over is taken back
        and "HTTP_TRANSFER_ENCODING" not in environ
        and environ.get("CONTENT_LENGTH") in _NOTHING
        and ";" not in environ.get("CONTENT_TYPE", "")  # a charset is that of the address, too
        and environ.get("HTTP_ACCEPT") in _PLAIN_ACCEPT
        and not environ.get("SCRIPT_NAME")
        and _is_ours(environ.get("HTTP_HOST", ""))
    )


@lru_cache(maxsize=32)
def _is_ours(host: str) -> bool:
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)


class Https(NamedTuple):
    """Who came by HTTPS, as Django tells it.

    Kept, for what Django's settings take to answer adds up to a twelfth of a hit.
    """

    required: bool
    header: str | None  # in which a proxy says so
    word: str  # for it, there

    @classmethod
    def of_the_settings(cls) -> "Https":
        name, value = settings.SECURE_PROXY_SSL_HEADER or (None, "")
        return cls(settings.SECURE_SSL_REDIRECT, name, value)

    def holds_for(self, environ: WSGIEnvironment) -> bool:
        said = environ.get(self.header) if self.header else None
        if said is None:
            return bool(environ["wsgi.url_scheme"] == "https")
        return said == self.word or bool(said.split(",", 1)[0].strip() == self.word)


class NoFrame(Exception):
    """Django's answer to a hit is another just now: an error, or what a middleware says."""


class Frame(NamedTuple):
    """What all answers of one kind have in common, and where their own headers go."""

    status: int
    headers: Headers
    etag: int
    length: int


class Framed:
    """The status line and headers of a hit, as Django makes them: it is asked once for each kind.

    So there is one definition of them, and what a middleware adds is added here too.
    """

    def __init__(self) -> None:
        self._frames: dict[tuple[bool, bool], Frame] = {}
        self._asking = threading.Lock()

    def answer(self, found: ReadyMade, environ: WSGIEnvironment, *, secure: bool) -> Answer:
        body, etag, _ = found
        asked = environ.get("HTTP_IF_NONE_MATCH")
        known = asked is not None and has_it(asked, etag)
        kind = (secure, known)
        status, shared, tagged, measured = self._frames.get(kind) or self._ask_for(kind, environ)
        if known:
            body = b""
        headers = shared.copy()
        headers[tagged] = ("ETag", etag)
        headers[measured] = ("Content-Length", str(len(body)))
        return status, headers, body

    def _ask_for(self, kind: tuple[bool, bool], environ: WSGIEnvironment) -> Frame:
        # One at a time: all of the middleware is loaded for it, a list of static files included,
        # and is then some MB of garbage that refers to itself.
        with self._asking:
            if kind not in self._frames:
                secure, known = kind
                self._frames[kind] = _frame(environ["HTTP_HOST"], secure=secure, known=known)
                gc.collect()
            return self._frames[kind]


def _frame(host: str, *, secure: bool, known: bool) -> Frame:
    sample: WSGIEnvironment = {
        "PATH_INFO": PATH,
        "HTTP_HOST": host,
        "wsgi.url_scheme": "https" if secure else "http",
        "wsgi.input": io.BytesIO(),
        **({"HTTP_IF_NONE_MATCH": "*"} if known else {}),
    }
    setup_testing_defaults(sample)
    heard = []

    def hear(status: str, headers: Headers, *_: object) -> Callable[[bytes], object]:
        heard.append((status, headers))
        return len  # nothing is written that way

    _SampleHandler()(sample, hear)
    status, headers = heard[0]
    if not status.startswith("304 " if known else "200 "):
        raise NoFrame(status)
    names = [name for name, _ in headers]
    return Frame(int(status[:3]), headers, names.index("ETag"), names.index("Content-Length"))


class _SampleView(VerdictView):
    """The view's answer to a hit, for an entry that says nothing."""

    def get(self, request: Request) -> HttpResponseBase:
        return cached(request, CachedVerdict(body="", etag='""'))


class _SampleHandler(WSGIHandler):
    """All of the middleware, around that view."""

    def _get_response(self, request: HttpRequest) -> HttpResponseBase:
        request.resolver_match = resolve(request.path)
        return _SampleView.as_view()(request)
