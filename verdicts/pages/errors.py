"""The error pages for customers: what happened and what to do, without any detail of the error."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


# Customer-facing text: the titles here and templates/error/.
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(request, "bad-request", "We cannot read this request", 400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """A form without a valid CSRF token; mostly because cookies are disabled."""
    return _page(request, "csrf-failure", "Please send the form again", 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(request, "not-found", "There is no such page", 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, "server-error", "This is our fault", 500)


def _page(request: HttpRequest, name: str, heading: str, status: int) -> HttpResponse:
    return render(request, f"error/{name}.html", {"heading": heading}, status=status)
