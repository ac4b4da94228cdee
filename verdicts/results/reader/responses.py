"""Builds the response to a cached hit: the stored body, with the headers that Django would send.

Django's view and middleware run once per kind of response at start-up, so that status and headers
have one definition, and headers that a middleware adds are included.
"""

import gc
import io
from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from wsgiref.types import WSGIEnvironment
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.request import Request

from verdicts.models import CachedVerdict
from verdicts.results.reader.lookup import CachedEntry
from verdicts.results.reader.requests import PATH, CachedRead
from verdicts.results.verdict_api import VerdictView, cached, etag_matches

Headers = list[tuple[str, str]]
Response = tuple[int, Headers, bytes]

# The status lines of a 200 and a 304 response; no other response is answered here.
STATUS: Final = {False: "200 ", True: "304 "}


class TemplateError(Exception):
    """Django does not answer a cached hit with 200 or 304, because of an error or a middleware."""


class Template(NamedTuple):
    """Status and headers of one kind of response, and the indexes of the headers that vary."""

    status: int
    headers: Headers
    etag: int
    length: int


class ResponseBuilder:
    def __init__(self) -> None:
        """Raises TemplateError."""
        secure_kinds = (True,) if settings.SECURE_SSL_REDIRECT else (True, False)
        self._templates = {
            (secure, unchanged): _template(secure=secure, unchanged=unchanged)
            for secure, unchanged in product(secure_kinds, (True, False))
        }
        # Loading the middleware leaves some MB of garbage in reference cycles.
        gc.collect()

    def build(self, entry: CachedEntry, asked: CachedRead) -> Response:
        body, etag, _ = entry
        unchanged = asked.if_none_match is not None and etag_matches(asked.if_none_match, etag)
        if unchanged:
            body = b""
        status, shared, tagged, measured = self._templates[asked.secure, unchanged]
        headers = shared.copy()
        headers[tagged] = ("etag", etag)
        headers[measured] = ("content-length", str(len(body)))
        return status, headers, body


def _template(*, secure: bool, unchanged: bool) -> Template:
    sample: WSGIEnvironment = {
        "PATH_INFO": PATH,
        "HTTP_HOST": urlsplit(settings.SITE_URL).netloc,
        "wsgi.url_scheme": "https" if secure else "http",
        "wsgi.input": io.BytesIO(),
        **({"HTTP_IF_NONE_MATCH": "*"} if unchanged else {}),
    }
    if settings.SECURE_PROXY_SSL_HEADER and secure:
        name, value = settings.SECURE_PROXY_SSL_HEADER
        sample[name] = value
    setup_testing_defaults(sample)
    started: list[tuple[str, Headers]] = []

    def start_response(status: str, headers: Headers, *_: object) -> Callable[[bytes], object]:
        started.append((status, headers))
        return len  # WSGI's write callable, which is not used

    _SampleHandler()(sample, start_response)
    status, headers = started[0]
    if not status.startswith(STATUS[unchanged]):
        raise TemplateError(status)
    named = [(name.lower(), value) for name, value in headers]  # RSGI's spelling
    names = [name for name, _ in named]
    return Template(int(status[:3]), named, names.index("etag"), names.index("content-length"))


class _SampleView(VerdictView):
    """The view's response to a hit, for an empty entry."""

    def get(self, request: Request) -> HttpResponseBase:
        return cached(request, CachedVerdict(body="", etag='""'))


class _SampleHandler(WSGIHandler):
    """All of the middleware, around that view."""

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        match = super().resolve_request(request)
        match.func = _SampleView.as_view()
        return match
