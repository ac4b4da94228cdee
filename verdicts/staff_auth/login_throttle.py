"""The keys that django-axes counts failed logins by, and the response while a login is locked out.

The limits themselves are the `AXES_*` settings.
"""

import ipaddress
import logging
from typing import Any, Final

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from verdicts.http.client_request import client_address, client_network

MAX_USERNAME: Final = 255  # the length of axes' column
logger = logging.getLogger(__name__)


def client_ip(request: HttpRequest) -> str | None:
    """The address to count failures by; for IPv6 the first address of the client's /64.

    None if it is unknown or invalid: PostgreSQL's inet column accepts nothing else, so these
    clients share one counter.
    """
    found = client_network(client_address(request)).partition("/")[0]
    try:
        return str(ipaddress.ip_address(found))
    except ValueError:
        return None


def username(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str | None:
    """The username to count failures by, cut to the column's length."""
    name = (credentials or request.POST).get("username")
    return None if name is None else str(name)[:MAX_USERNAME]


def lockout_response(request: HttpRequest, *_: Any) -> HttpResponse:
    """429; the same for existing and unknown usernames."""
    # Username and address are not logged: axes' table has them until the lockout expires.
    logger.warning("a login was refused: too many wrong passwords for one name from one address")
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    context = {**admin.site.each_context(request), "title": "Too many attempts"}
    context |= {"limit": settings.AXES_FAILURE_LIMIT, "lockout_seconds": seconds}
    response = render(request, "staff_auth/locked-out.html", context, status=429)
    response["Retry-After"] = str(seconds)
    return response
