"""Answers 400 to headers that Django fails on or parses too slowly.

Django reads Content-Length and the charset of Content-Type when it creates the request, before
any middleware runs. So this wraps the WSGI application instead of being Django middleware.
"""

import codecs
from collections.abc import Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.utils.http import parse_header_parameters

# Supersets of ASCII: Django decodes the query string by this charset too.
CHARSETS: Final = frozenset({"utf-8", "ascii", "iso8859-1"})
# Python parses some Content-Types in quadratic time: 200 KB take half a minute.
MAX_CONTENT_TYPE: Final = 256


def validate_headers(django: WSGIApplication) -> WSGIApplication:
    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        error = header_error(environ)
        if not error:
            return django(environ, start_response)
        body = error.encode()
        headers = [
            ("Content-Type", "text/plain"),
            ("Content-Length", str(len(body))),
            ("X-Content-Type-Options", "nosniff"),
        ]
        start_response("400 Bad Request", headers)
        return [body]

    return application


def header_error(environ: WSGIEnvironment) -> str:
    """The response text for an invalid header; empty if the headers are valid."""
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        return "The Content-Length is not a number."
    content_type = environ.get("CONTENT_TYPE", "")
    if len(content_type) > MAX_CONTENT_TYPE:
        return f"The Content-Type is longer than {MAX_CONTENT_TYPE} characters."
    return "" if _is_supported(content_type) else "The charset is not UTF-8."


def _is_supported(content_type: str) -> bool:
    try:  # the way Django reads it
        _, parameters = parse_header_parameters(content_type)
        return codecs.lookup(parameters.get("charset", "utf-8")).name in CHARSETS
    except (LookupError, ValueError):
        return False
