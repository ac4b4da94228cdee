"""What is timed is what a customer would wait for, and only if it came about."""

import json
from typing import Any

import pytest
from django.http import HttpResponse

from benchmarks.growth import work
from benchmarks.growth.operations import Turns

# The end of a request closes a connection that is within a test's transaction.
pytestmark = pytest.mark.django_db(transaction=True)


class Site:
    """In the place of the WSGI application: answers every question alike."""

    def __init__(self, *, regen: bool) -> None:
        self.answer = HttpResponse(json.dumps({"regen": regen}))
        self.asked: list[dict[str, Any]] = []

    def __call__(self, environ, start_response) -> HttpResponse:
        self.asked.append(environ)
        start_response("200 OK", [])
        return self.answer


def test_a_miss_is_timed_through_the_whole_request(client, monkeypatch):
    site = Site(regen=True)
    monkeypatch.setattr(work, "application", site)
    assert len(Turns(1_000, client).miss(3)) == 3
    assert [one["PATH_INFO"] for one in site.asked] == ["/api/verdict"] * 3
    assert site.answer.closed  # as a server does: Django ends the request there


def test_a_hit_does_not_pass_for_a_miss(client, monkeypatch):
    monkeypatch.setattr(work, "application", Site(regen=False))
    with pytest.raises(AssertionError):
        Turns(1_000, client).miss(1)
