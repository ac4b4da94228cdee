"""A miss is timed through the whole request, and only if the verdict was regenerated."""

import json
from typing import Any

import pytest
from django.http import HttpResponse

from benchmarks.growth import operations
from benchmarks.growth.operations import Operations

# The end of a request closes the connection, which would abort a test's transaction.
pytestmark = pytest.mark.django_db(transaction=True)


class FakeApplication:
    """A WSGI application with a fixed response."""

    def __init__(self, *, regen: bool) -> None:
        self.response = HttpResponse(json.dumps({"regen": regen}))
        self.requests: list[dict[str, Any]] = []

    def __call__(self, environ, start_response) -> HttpResponse:
        self.requests.append(environ)
        start_response("200 OK", [])
        return self.response


def test_a_miss_is_timed_through_the_whole_request(client, monkeypatch):
    site = FakeApplication(regen=True)
    monkeypatch.setattr(operations, "application", site)
    assert len(Operations(1_000, client).miss(3)) == 3
    assert [one["PATH_INFO"] for one in site.requests] == ["/api/verdict"] * 3
    assert site.response.closed  # as a WSGI server does; Django ends the request on close


def test_a_hit_is_not_counted_as_a_miss(client, monkeypatch):
    monkeypatch.setattr(operations, "application", FakeApplication(regen=False))
    with pytest.raises(AssertionError):
        Operations(1_000, client).miss(1)
