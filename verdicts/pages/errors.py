"""What a customer sees where no page of ours can answer: words, and never a trace."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


# Customer-facing text: the titles here and templates/error/.
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(request, "bad-request", "We cannot read this request", 400)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """Django's check against forged forms; mostly somebody whose cookies are off."""
    return _page(request, "forged", "Please send the form again", 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _page(request, "not-found", "There is no such page", 404)


def failed(request: HttpRequest) -> HttpResponse:
    return _page(request, "failed", "This is our fault", 500)


def _page(request: HttpRequest, name: str, heading: str, status: int) -> HttpResponse:
    return render(request, f"error/{name}.html", {"heading": heading}, status=status)
