"""The tables in docs/PERMISSIONS.md, held against every address of the site, for every role."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from audit.models import CrosscheckLog
from tests.support.addresses import Address, addresses
from tests.support.stripe_objects import signature
from tests.support.verdict_payloads import complete
from tests.verdicts.admin.conftest import HELD
from tests.verdicts.payments.test_webhook_api import BODY
from verdicts.models import CachedVerdict, Case, Delivery, Order, StripeEvent, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.slow]

PAGE = (Path(__file__).parents[3] / "docs/PERMISSIONS.md").read_text()
ROLES = {  # by the table's name for them
    "Nobody": "",
    "Account": "customer",
    "Staff": "nobody",
    "Operator": "Operator",
    "Reviewer": "Reviewer",
    "NOUS": "NOUS",
    "Superuser": "superuser",
}
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
METHODS = ("GET", "POST")


def rows(first: str) -> list[dict[str, str]]:
    """The rows of the page's table that begins like this, one for each method."""
    table = PAGE[PAGE.index(f"| Address | Method | {first} |") :].partition("\n\n")[0]
    heading, _, *lines = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in table.splitlines()
    ]
    return [
        {**dict(zip(heading, line, strict=True)), "Method": method}
        for line in lines
        for method in line[1].split(", ")
    ]


CONSOLE = {(row["Address"], row["Method"]): row for row in rows("Nobody")}
PUBLIC = {(row["Address"], row["Method"]): row for row in rows("Needs")}


def is_console(address: Address) -> bool:
    return address.shape.startswith("/admin/")


def row_of(address: Address, method: str) -> dict[str, str] | None:
    return CONSOLE.get((address.shape, method)) or CONSOLE.get((address.kind, method))


def said(answer: HttpResponse) -> str:
    """The answer in the table's words."""
    if answer.status_code == 302:
        return "login" if answer["Location"].startswith("/admin/login/") else "yes"
    return {200: "yes", 403: "no", 404: "–", 405: "–"}.get(answer.status_code, "?")


class Walker:
    """Somebody who tries every address; whatever it did is undone at once."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.cookies = deepcopy(client.cookies)

    def ask(self, method: str, path: str, **more: object) -> HttpResponse:
        self.client.cookies = deepcopy(self.cookies)  # it may have logged out
        with transaction.atomic():
            answer = getattr(self.client, method.lower())(path, **more)
            if answer.streaming:
                answer.whole = b"".join(answer.streaming_content)
            transaction.set_rollback(True)
        return answer


@pytest.fixture
def walker(person) -> Callable[..., Walker]:
    def make(role: str, **more: object) -> Walker:
        client = person(ROLES[role], f"walker-{role}") if ROLES[role] else Client()
        client.handler.enforce_csrf_checks = bool(more.get("enforce_csrf_checks"))
        return Walker(client)

    return make


def test_every_address_is_in_a_table_and_no_row_is_left_over(everything):
    shapes = {one for address in addresses(everything) for one in address[1:] if one}
    listed = {shape for shape, _ in (*CONSOLE, *PUBLIC)}
    assert listed - shapes == set()
    public = {shape for shape, _ in PUBLIC}
    for address in addresses(everything):
        if is_console(address):
            assert row_of(address, "GET") or row_of(address, "POST"), address
        else:
            assert address.shape in public, address


@pytest.mark.parametrize("role", ROLES)
def test_the_console_answers_everybody_as_the_table_says(walker, everything, role):
    """And shows what is customers' own to those alone who have the permission for it."""
    somebody = walker(role)
    secrets, read = customers_own(everything), set()
    wrong = []
    for address in filter(is_console, addresses(everything)):
        for method in METHODS:
            answer = somebody.ask(method, address.path)
            read |= {one for one in secrets if one in text_of(answer)}
            row = row_of(address, method)
            # A method that the table does not list does nothing for anybody.
            expected = {row[role]} if row else {"–", "login"}
            if said(answer) not in expected:
                wrong.append((method, address.path, said(answer), answer.status_code, expected))
        if "export.csv" in address.path:
            answer = somebody.ask("GET", address.path.replace("csv", "jsonl"))
            read |= {one for one in secrets if one in text_of(answer)}
    assert wrong == []
    assert read == (secrets if role in ("Reviewer", "NOUS", "Superuser") else set())


def customers_own(everything: dict[str, object]) -> set[str]:
    session = Order.objects.get(pk=everything["order_id"]).session_id
    return {"buyer@example.com", "A perpetuum mobile?", "Should I open a bakery?", session, HELD}


def text_of(answer: HttpResponse) -> str:
    return (answer.whole if answer.streaming else answer.content).decode()


@pytest.mark.parametrize("role", ["Nobody", "Account", "Staff", "Operator"])
def test_whoever_may_only_look_changes_nothing_by_trying(person, everything, role):
    kept = (Order, Case, Verdict, CachedVerdict, Delivery, CrosscheckLog, StripeEvent)
    client = person(ROLES[role], "walker") if ROLES[role] else Client()
    before = [list(model.objects.order_by("pk").values()) for model in kept]
    for address in filter(is_console, addresses(everything)):
        if "logout" not in address.path:
            client.post(address.path, {"outcome": "refunded", "note": "x", "confirmed": "1"})
            client.post(address.path, {"action": "delete_selected", "_selected_action": "1"})
    assert [list(model.objects.order_by("pk").values()) for model in kept] == before


# Customers, Stripe, services


def ways(everything) -> dict[tuple[str, str], dict[str, object]]:
    """What has to come with a request, for each row that needs something; and every body."""
    session = everything["session_id"]
    order = {"tier": "quick", "query": "Should I?", "email": "a@example.com"}
    entry = {"tier": "full", "verdict": complete("full")}
    signed = {"Stripe-Signature": signature(BODY)}
    as_json = {"content_type": "application/json"}
    return {
        ("/", "POST"): {"data": order},
        ("/api/checkout", "POST"): {"data": order, **as_json},
        ("/api/webhook", "POST"): {"data": BODY, "headers": signed, **as_json},
        ("/oracle/result", "GET"): {"query_params": {"session_id": session}},
        ("/api/verdict", "GET"): {"query_params": {"session_id": session}},
        ("/cache/{session_id}", "GET"): {"headers": TOKEN},
        ("/cache/{session_id}", "POST"): {"data": entry, "headers": TOKEN, **as_json},
        ("/send-verdict-email", "POST"): {
            "data": {"session_id": session},
            "headers": TOKEN,
            **as_json,
        },
        ("/metrics", "GET"): {"headers": TOKEN},
    }


def without(way: dict[str, object]) -> dict[str, object]:
    """The same request without what it needs: body and type stay."""
    return {name: value for name, value in way.items() if name in ("data", "content_type")}


@pytest.mark.parametrize("role", ["Nobody", "Superuser"])
def test_outside_the_console_it_takes_what_the_table_says(walker, everything, role):
    somebody, forger = walker(role), walker("Nobody", enforce_csrf_checks=True)
    for address in addresses(everything):
        if is_console(address):
            continue
        for method in METHODS:
            row = PUBLIC.get((address.shape, method))
            way = ways(everything).get((address.shape, method), {})
            if row is None:
                assert somebody.ask(method, address.path).status_code in (401, 405), address
                continue
            answer = somebody.ask(method, address.path, **way)
            assert answer.status_code == int(row["With it"]), (method, address, answer.content)
            if row["Without it"]:
                asks = forger if "form" in row["Needs"] else somebody
                answer = asks.ask(method, address.path, **without(way))
                assert answer.status_code == int(row["Without it"]), (method, address)


def test_a_form_of_another_site_is_refused_everywhere(walker, everything):
    """Where no cookie is read, which the first table tells, no form gets through at all."""
    form = {"content_type": "application/x-www-form-urlencoded", "data": "tier=quick&query=x"}
    somebody = walker("Superuser", enforce_csrf_checks=True)
    for address in addresses(everything):
        answer = somebody.ask("POST", address.path, **form)
        if is_console(address) or address.shape == "/":
            assert answer.status_code == 403, address
            assert "Please send the form again" in answer.content.decode(), address
        else:
            assert answer.status_code in (400, 401, 403, 405, 415), address


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", ""])
def test_no_form_can_order_by_the_api(client, kind):
    body = '{"tier": "quick", "query": "Should I?"}'
    answer = client.post("/api/checkout", data=body, content_type=kind)
    assert answer.status_code in (400, 415)
    assert not Order.objects.exists()
