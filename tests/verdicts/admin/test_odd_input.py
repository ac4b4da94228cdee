"""Malformed input at every URL, by every method, from every role: no 5xx, nothing stored."""

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
# The first one is the parameter of the customers' URLs.
KEYS = ("session_id", "q", "p", "o", "days", "kind__exact", "created_at_from", "next", "e")


@pytest.fixture
def clients(client_for, monkeypatch) -> dict[str, Client]:
    """An anonymous client, a service and a superuser."""
    monkeypatch.setattr(rate_limit, "PER_MINUTE", 100_000)
    return {
        "anonymous": Client(),
        "service": Client(headers=TOKEN),
        "root": client_for("superuser"),
    }


class Snapshot:
    """The stored rows, to be compared later."""

    def __init__(self) -> None:
        self.before = self.read()

    def read(self) -> list[object]:
        return [list(model.objects.order_by("pk").values()) for model in STORED]

    def is_unchanged(self) -> bool:
        return self.read() == self.before


def find_fault(client: Client, method: str, path: str, **more: object) -> str:
    """What is wrong with the response; empty if nothing."""
    request = f"{method} {path[:80]} {str(more)[:160]}"
    try:
        answer = client.generic(method, path, **more)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    except Exception as error:  # noqa: BLE001 - any exception is a failure
        return f"{request}: {type(error).__name__}: {str(error)[:200]}"
    if answer.status_code >= 500:
        return f"{request}: {answer.status_code}"
    explains = body or "Allow" in answer  # a 405 lists the allowed methods
    if method != "HEAD" and answer.status_code >= 400 and not explains:
        return f"{request}: {answer.status_code} without an explanation"
    return ""


def find_faults(calls) -> list[str]:
    return [fault for *call, more in calls if (fault := find_fault(*call, **more))]


def is_record_list(address: Address) -> bool:
    """One of the console's lists of records, which share their code."""
    return address.kind.startswith("/admin/{record}/")


def sample(items: tuple, number: int, address: Address) -> tuple:
    """All of them outside the console; in it one in n, so that all URLs together cover them."""
    if best_client(address) == "service":
        return items
    share = 12 if is_record_list(address) else 6
    return items[number % share :: share]


@pytest.fixture
def urls(url_arguments) -> list[tuple[int, Address]]:
    """Every URL that can be requested repeatedly."""
    return [
        (number, address)
        for number, address in enumerate(addresses(url_arguments))
        if "logout" not in address.path and "export" not in address.path
    ]


def best_client(address: Address) -> str:
    """The client with the most access there."""
    return "root" if address.shape.startswith("/admin/") else "service"


def test_every_method_at_every_url(clients, urls):
    snapshot = Snapshot()
    assert (
        find_faults(
            (client, method, address.path, {})
            for client in clients.values()
            for number, address in urls
            for method in sample(METHODS, number, address)
        )
        == []
    )
    assert snapshot.is_unchanged()


def test_malformed_query_parameters_at_every_url(clients, urls):
    snapshot = Snapshot()
    assert (
        find_faults(
            (clients[best_client(address)], "GET", f"{address.path}?{key}={text}", {})
            for number, address in urls
            for turn, text in enumerate(sample(TEXTS, number, address))
            for key in (
                KEYS[(number + turn) % len(KEYS)],
                *KEYS[: best_client(address) == "service"],
            )
        )
        == []
    )
    assert snapshot.is_unchanged()


def test_malformed_path_arguments_at_every_url(clients, url_arguments):
    snapshot = Snapshot()
    assert (
        find_faults(
            (client, method, address.path, {})
            for turn, text in enumerate(filter(None, TEXTS))
            for number, address in enumerate(addresses(dict.fromkeys(url_arguments, text)))
            if "{" in address.shape and (not is_record_list(address) or number % 16 == turn % 16)
            for client in (clients["anonymous"], clients[best_client(address)])
            for method in ("GET", "POST")
        )
        == []
    )
    assert snapshot.is_unchanged()


def test_malformed_bodies_outside_the_console(clients, urls):
    snapshot = Snapshot()
    assert (
        find_faults(
            (clients["service"], "POST", address.path, {"data": body, "content_type": kind})
            for _, address in urls
            if best_client(address) == "service"
            for body in (*BODIES, *FORMS)
            for kind in (TYPES if body in (BODIES[0], BODIES[2], FORMS[4]) else JSON_OR_FORM)
        )
        == []
    )
    assert snapshot.is_unchanged()


def test_malformed_forms_in_the_console(clients, urls):
    snapshot = Snapshot()
    bodies = (*((form, JSON_OR_FORM[1]) for form in FORMS), *((FORMS[4], kind) for kind in TYPES))
    assert (
        find_faults(
            (clients["root"], "POST", address.path, {"data": body, "content_type": kind})
            for number, address in urls
            if best_client(address) == "root"
            for body, kind in sample(bodies, number, address)
        )
        == []
    )
    assert snapshot.is_unchanged()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_malformed_headers_at_every_url(clients, urls, settings, method):
    settings.BEHIND_PROXY = method == "POST"
    snapshot = Snapshot()
    assert (
        find_faults(
            (clients[best_client(address)], method, address.path, {"headers": headers})
            for number, address in urls
            for headers in sample(HEADERS, number, address)
        )
        == []
    )
    assert snapshot.is_unchanged()


def test_malformed_filters_of_an_export(clients, url_arguments):
    assert (
        find_faults(
            (clients["root"], "GET", f"{address.path}?{key}={text}", {})
            for number, address in enumerate(addresses(url_arguments))
            if "export" in address.path
            for key in ("id__exact", "email__startswith", "created_at_from")
            for text in sample(TEXTS, number, address)
        )
        == []
    )
