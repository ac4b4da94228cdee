"""Each request is a block of its own in the service log, about the session in its address."""

from collections.abc import Callable
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponseBase

from audit.log_context import log_session, log_session_hash
from oracle_site.service_log import SESSION


def say_what_it_is_about(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        with log_session(session_in(request)):
            response = get_response(request)
            # A view may have learnt more, and Django's last word on the answer comes after us.
            request.subject = log_session_hash()  # type: ignore[attr-defined]  # ours
            return response

    return middleware


def session_in(request: HttpRequest) -> str:
    """Of the page, the API and the cache's interface; a search in the console, too."""
    address = f"{request.path}?{unquote(request.META.get('QUERY_STRING', ''))}"
    found = SESSION.search(address)
    return found[0] if found else ""
