"""Minimal Django: one view without middleware that always returns the same bytes.

Load `benchmarks.peers.bare_django:application`; BODY_FILE names the response body.
"""

import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    MIDDLEWARE=[],
    ROOT_URLCONF=__name__,
    SECRET_KEY="only-for-benchmarks",  # noqa: S106 - not a real secret
)
BODY = Path(os.environ["BODY_FILE"]).read_bytes()


def verdict(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(BODY, content_type="application/json")


urlpatterns = [path("api/verdict", verdict)]
application = get_wsgi_application()
