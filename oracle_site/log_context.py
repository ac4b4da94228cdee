"""Adds the session of a request's URL to every service log line of that request."""

from collections.abc import Callable
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponseBase

from audit.log_context import log_session, log_session_hash
from oracle_site.service_log import SESSION


def log_session_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        with log_session(session_in(request)):
            response = get_response(request)
            # A view may have set the session itself. Kept on the request because Django logs
            # error responses after all middleware, where the context has ended.
            request.log_session_hash = log_session_hash()  # type: ignore[attr-defined]
            return response

    return middleware


def session_in(request: HttpRequest) -> str:
    """The session id in the path or query: of a page, the API, or a search in the console."""
    url = f"{request.path}?{unquote(request.META.get('QUERY_STRING', ''))}"
    found = SESSION.search(url)
    return found[0] if found else ""
