"""A Content-Length that is no number is the client's error.

Django takes it at its word wherever a body is read, and fails.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase


def refuse_odd_content_length(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isascii() and length.isdigit():
            return get_response(request)
        sentence = "The Content-Length is not a number."
        return HttpResponse(sentence, status=400, content_type="text/plain")

    return middleware
