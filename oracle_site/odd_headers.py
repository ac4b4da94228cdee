"""A Content-Length that is no number, or a charset that is none of text's, is the client's error.

Django takes both at their word and fails: a charset while it makes the request,
before any of its middleware. So this is around Django, and not within.
"""

import codecs
from collections.abc import Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.utils.http import parse_header_parameters

# In each of them the letters of an address are what they look like.
CHARSETS: Final = frozenset({"utf-8", "ascii", "iso8859-1"})


def refuse_odd_headers(django: WSGIApplication) -> WSGIApplication:
    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        odd = what_is_odd(environ)
        if not odd:
            return django(environ, start_response)
        said = odd.encode()
        headers = [
            ("Content-Type", "text/plain"),
            ("Content-Length", str(len(said))),
            ("X-Content-Type-Options", "nosniff"),
        ]
        start_response("400 Bad Request", headers)
        return [said]

    return application


def what_is_odd(environ: WSGIEnvironment) -> str:
    """As a sentence; empty: nothing."""
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        return "The Content-Length is not a number."
    return "" if _is_plain(environ.get("CONTENT_TYPE", "")) else "The charset is not UTF-8."


def _is_plain(content_type: str) -> bool:
    try:  # as Django reads it
        _, named = parse_header_parameters(content_type)
        return codecs.lookup(named.get("charset", "utf-8")).name in CHARSETS
    except (LookupError, ValueError):
        return False
