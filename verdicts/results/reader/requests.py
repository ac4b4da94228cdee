"""Decides without Django which requests can be answered from the cache.

Only plain GET requests of one form, whose response depends on nothing but the session and
If-None-Match. All others are left to Django.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from verdicts.core.sessions import SESSION_ID

PATH: Final = "/api/verdict"
_QUERY: Final = re.compile(f"session_id=({SESSION_ID.pattern})")
_PLAIN_ACCEPT: Final = frozenset({None, "*/*", "application/json"})
_PLAIN_TYPE: Final = frozenset({"", "application/json", "text/plain"})
_NO_BODY: Final = frozenset({None, "", "0"})


class Headers(Protocol):
    """RSGI's headers, with names in lower case.

    `items` omits values that are not ASCII and repeats duplicate names; `keys` does neither.
    """

    def items(self) -> list[tuple[str, str]]: ...

    def keys(self) -> list[str]: ...


class Scope(Protocol):
    """The part of RSGI's scope that is used here. Each access to `headers` copies them all."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def query_string(self) -> str: ...

    @property
    def scheme(self) -> str: ...

    @property
    def headers(self) -> Headers: ...


class CachedRead(NamedTuple):
    session_id: str
    secure: bool  # the client used HTTPS
    if_none_match: str | None


class RequestFilter:
    """Settings are read once: looking them up costs a twelfth of a hit."""

    def __init__(self) -> None:
        header, word = settings.SECURE_PROXY_SSL_HEADER or ("", "")
        self._https_header = header.removeprefix("HTTP_").replace("_", "-").lower()
        self._https_word = word
        self._https_required: bool = settings.SECURE_SSL_REDIRECT

    def cached_read(self, scope: Scope) -> CachedRead | None:
        """The read that is asked for; None: the request is left to Django."""
        if scope.path != PATH or scope.method != "GET":
            return None
        asked = _QUERY.fullmatch(scope.query_string)
        if asked is None:
            return None
        headers = scope.headers
        items = headers.items()
        # Duplicate names, and values that are not ASCII, are left to Django.
        if [name for name, _ in items] != headers.keys():
            return None
        given = dict(items)
        secure = self._is_secure(scope, given)
        if not _is_plain(given) or (self._https_required and not secure):
            return None
        return CachedRead(asked[1], secure, given.get("if-none-match"))

    def _is_secure(self, scope: Scope, given: dict[str, str]) -> bool:
        """The same rule as HttpRequest.is_secure."""
        value = given.get(self._https_header) if self._https_header else None
        if value is None:
            return scope.scheme == "https"
        return value == self._https_word or value.split(",", 1)[0].strip() == self._https_word


def _is_plain(given: dict[str, str]) -> bool:
    return (
        given.get("accept") in _PLAIN_ACCEPT
        and "cookie" not in given  # the response deletes an invalid or expired one
        and "transfer-encoding" not in given
        and given.get("content-length") in _NO_BODY
        and given.get("content-type", "") in _PLAIN_TYPE  # its charset would decode the query, too
        and _is_allowed_host(given.get("host", ""))
    )


@lru_cache(maxsize=32)
def _is_allowed_host(host: str) -> bool:
    return validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
