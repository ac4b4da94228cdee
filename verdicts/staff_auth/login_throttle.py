"""Whom a wrong password is counted against, and what they see once it is too many."""

import ipaddress
import logging
from typing import Any, Final

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from verdicts.http.client_request import client_address, client_network

MAX_NAME: Final = 255
logger = logging.getLogger(__name__)


def counted_address(request: HttpRequest) -> str | None:
    """The address of axes' rows: of IPv6 the first of the /64 that one subscriber has.

    None is everybody whose address nobody knows, together: no database takes another text.
    """
    found = client_network(client_address(request)).partition("/")[0]
    try:
        return str(ipaddress.ip_address(found))
    except ValueError:
        return None


def counted_name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str | None:
    """The name of axes' rows, no longer than they take: Django's form lets any length through."""
    name = (credentials or request.POST).get("username")
    return None if name is None else str(name)[:MAX_NAME]


def locked_out(request: HttpRequest, *_: Any) -> HttpResponse:
    """The same for names that exist and for those that do not."""
    # Neither who nor from where: that stands in axes' table, for as long as it matters.
    logger.warning("a login was refused: too many wrong passwords for one name from one address")
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    context = {**admin.site.each_context(request), "title": "Too many attempts"}
    context |= {"tries": settings.AXES_FAILURE_LIMIT, "minutes": seconds // 60}
    response = render(request, "door/locked-out.html", context, status=429)
    response["Retry-After"] = str(seconds)
    return response
