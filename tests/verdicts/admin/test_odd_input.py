"""Odd input at every address, by every method, from everybody: a clear answer, nothing stored."""

import pytest
from django.test import Client

from audit.models import Action, CrosscheckLog, LogEntry, ModelCall
from tests.support.addresses import Address, addresses
from tests.support.odd_input import BODIES, FORMS, HEADERS, METHODS, TEXTS, TYPES
from verdicts.models import CachedVerdict, Case, Delivery, Order, StripeEvent, Verdict
from verdicts.payments import rate_limit

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

STORED = (
    *(Order, Verdict, CachedVerdict, Delivery, Case, StripeEvent),
    *(Action, CrosscheckLog, LogEntry, ModelCall),
)
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
JSON_OR_FORM = (TYPES[0], TYPES[3])
# The first is the one that customers' addresses read.
KEYS = ("session_id", "q", "p", "o", "days", "kind__exact", "created_at_from", "next", "e")


@pytest.fixture
def guests(person, monkeypatch) -> dict[str, Client]:
    """A stranger, a service and a superuser."""
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 100_000)
    return {"stranger": Client(), "service": Client(headers=TOKEN), "root": person("superuser")}


class Kept:
    """What is stored, to be compared later."""

    def __init__(self) -> None:
        self.before = self.now()

    def now(self) -> list[object]:
        return [list(model.objects.order_by("pk").values()) for model in STORED]

    def is_as_it_was(self) -> bool:
        return self.now() == self.before


def trouble(client: Client, method: str, path: str, **more: object) -> str:
    """What was wrong with the answer; mostly nothing."""
    asked = f"{method} {path[:80]} {str(more)[:160]}"
    try:
        answer = client.generic(method, path, **more)
        said = b"".join(answer.streaming_content) if answer.streaming else answer.content
    except Exception as error:  # noqa: BLE001 - any is a failure of the site
        return f"{asked}: {type(error).__name__}: {str(error)[:200]}"
    if answer.status_code >= 500:
        return f"{asked}: {answer.status_code}"
    told = said or "Allow" in answer  # a 405 names what is taken
    if method != "HEAD" and answer.status_code >= 400 and not told:
        return f"{asked}: {answer.status_code} without a word"
    return ""


def all_trouble(calls) -> list[str]:
    return [told for told in (trouble(*call, **more) for *call, more in calls) if told]


def alike(address: Address) -> bool:
    """One of the console's many lists of records, which share their code."""
    return address.kind.startswith("/admin/{record}/")


def some(items: tuple, number: int, address: Address) -> tuple:
    """All of them outside the console; there one in so many, so that between them they get all."""
    if suits(address) == "service":
        return items
    share = 12 if alike(address) else 6
    return items[number % share :: share]


@pytest.fixture
def places(everything) -> list[tuple[int, Address]]:
    """Every address that can be asked for over and over."""
    return [
        (number, address)
        for number, address in enumerate(addresses(everything))
        if "logout" not in address.path and "export" not in address.path
    ]


def suits(address: Address) -> str:
    """Who gets furthest there."""
    return "root" if address.shape.startswith("/admin/") else "service"


def test_every_method_at_every_address(guests, places):
    kept = Kept()
    assert (
        all_trouble(
            (client, method, address.path, {})
            for client in guests.values()
            for number, address in places
            for method in some(METHODS, number, address)
        )
        == []
    )
    assert kept.is_as_it_was()


def test_odd_text_behind_every_address(guests, places):
    kept = Kept()
    assert (
        all_trouble(
            (guests[suits(address)], "GET", f"{address.path}?{key}={text}", {})
            for number, address in places
            for turn, text in enumerate(some(TEXTS, number, address))
            for key in (KEYS[(number + turn) % len(KEYS)], *KEYS[: suits(address) == "service"])
        )
        == []
    )
    assert kept.is_as_it_was()


def test_odd_text_in_every_place_of_every_address(guests, everything):
    kept = Kept()
    assert (
        all_trouble(
            (guest, method, address.path, {})
            for turn, text in enumerate(filter(None, TEXTS))
            for number, address in enumerate(addresses(dict.fromkeys(everything, text)))
            if "{" in address.shape and (not alike(address) or number % 16 == turn % 16)
            for guest in (guests["stranger"], guests[suits(address)])
            for method in ("GET", "POST")
        )
        == []
    )
    assert kept.is_as_it_was()


def test_odd_bodies_of_every_kind_outside_the_console(guests, places):
    kept = Kept()
    assert (
        all_trouble(
            (guests["service"], "POST", address.path, {"data": body, "content_type": kind})
            for _, address in places
            if suits(address) == "service"
            for body in (*BODIES, *FORMS)
            for kind in (TYPES if body in (BODIES[0], BODIES[2], FORMS[4]) else JSON_OR_FORM)
        )
        == []
    )
    assert kept.is_as_it_was()


def test_odd_forms_in_the_console(guests, places):
    kept = Kept()
    bodies = (*((form, JSON_OR_FORM[1]) for form in FORMS), *((FORMS[4], kind) for kind in TYPES))
    assert (
        all_trouble(
            (guests["root"], "POST", address.path, {"data": body, "content_type": kind})
            for number, address in places
            if suits(address) == "root"
            for body, kind in some(bodies, number, address)
        )
        == []
    )
    assert kept.is_as_it_was()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_odd_headers_at_every_address(guests, places, settings, method):
    settings.BEHIND_PROXY = method == "POST"
    kept = Kept()
    assert (
        all_trouble(
            (guests[suits(address)], method, address.path, {"headers": headers})
            for number, address in places
            for headers in some(HEADERS, number, address)
        )
        == []
    )
    assert kept.is_as_it_was()


def test_odd_filters_of_an_export(guests, everything):
    assert (
        all_trouble(
            (guests["root"], "GET", f"{address.path}?{key}={text}", {})
            for number, address in enumerate(addresses(everything))
            if "export" in address.path
            for key in ("id__exact", "email__startswith", "created_at_from")
            for text in some(TEXTS, number, address)
        )
        == []
    )
