"""Every URL of the site, for every role, against the tables in docs/PERMISSIONS.md."""

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
from tests.verdicts.admin.conftest import REJECTED_TEXT
from tests.verdicts.payments.test_webhook_api import BODY
from verdicts.models import CachedVerdict, Case, Delivery, Order, StripeEvent, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.slow]

PAGE = (Path(__file__).parents[3] / "docs/PERMISSIONS.md").read_text()
ROLES = {  # by their names in the table
    "Nobody": "",
    "Account": "customer",
    "Staff": "ungrouped",
    "Operator": "Operator",
    "Reviewer": "Reviewer",
    "NOUS": "NOUS",
    "Superuser": "superuser",
}
TOKEN = {"Authorization": "Bearer sandbox-service-token"}
METHODS = ("GET", "POST")


def rows(first: str) -> list[dict[str, str]]:
    """The rows of the table with this third column, one per method."""
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


def access(answer: HttpResponse) -> str:
    """The response as the table has it."""
    if answer.status_code == 302:
        return "login" if answer["Location"].startswith("/admin/login/") else "yes"
    return {200: "yes", 403: "no", 404: "–", 405: "–"}.get(answer.status_code, "?")


class Prober:
    """A client whose every request is rolled back."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.cookies = deepcopy(client.cookies)

    def request(self, method: str, path: str, **more: object) -> HttpResponse:
        self.client.cookies = deepcopy(self.cookies)  # a request may have logged it out
        with transaction.atomic():
            answer = getattr(self.client, method.lower())(path, **more)
            if answer.streaming:
                answer.body = b"".join(answer.streaming_content)
            transaction.set_rollback(True)
        return answer


@pytest.fixture
def prober(client_for) -> Callable[..., Prober]:
    def make(role: str, **more: object) -> Prober:
        client = client_for(ROLES[role], f"prober-{role}") if ROLES[role] else Client()
        client.handler.enforce_csrf_checks = bool(more.get("enforce_csrf_checks"))
        return Prober(client)

    return make


def test_the_tables_list_every_url_and_no_other(url_arguments):
    shapes = {one for address in addresses(url_arguments) for one in address[1:] if one}
    listed = {shape for shape, _ in (*CONSOLE, *PUBLIC)}
    assert listed - shapes == set()
    public = {shape for shape, _ in PUBLIC}
    for address in addresses(url_arguments):
        if is_console(address):
            assert row_of(address, "GET") or row_of(address, "POST"), address
        else:
            assert address.shape in public, address


@pytest.mark.parametrize("role", ROLES)
def test_the_console_matches_the_table(prober, url_arguments, role):
    """And shows customers' data only with the permission for it."""
    client = prober(role)
    secrets, read = customer_data(url_arguments), set()
    wrong = []
    for address in filter(is_console, addresses(url_arguments)):
        for method in METHODS:
            answer = client.request(method, address.path)
            read |= {one for one in secrets if one in text_of(answer)}
            row = row_of(address, method)
            # A method that the table does not list is not allowed, or leads to the login.
            expected = {row[role]} if row else {"–", "login"}
            if access(answer) not in expected:
                wrong.append((method, address.path, access(answer), answer.status_code, expected))
        if "export.csv" in address.path:
            answer = client.request("GET", address.path.replace("csv", "jsonl"))
            read |= {one for one in secrets if one in text_of(answer)}
    assert wrong == []
    assert read == (secrets if role in ("Reviewer", "NOUS", "Superuser") else set())


def customer_data(url_arguments: dict[str, object]) -> set[str]:
    session = Order.objects.get(pk=url_arguments["order_id"]).session_id
    return {
        "buyer@example.com",
        "A perpetuum mobile?",
        "Should I open a bakery?",
        session,
        REJECTED_TEXT,
    }


def text_of(answer: HttpResponse) -> str:
    return (answer.body if answer.streaming else answer.content).decode()


@pytest.mark.parametrize("role", ["Nobody", "Account", "Staff", "Operator"])
def test_roles_without_write_permission_change_nothing(client_for, url_arguments, role):
    models = (Order, Case, Verdict, CachedVerdict, Delivery, CrosscheckLog, StripeEvent)
    client = client_for(ROLES[role], "prober") if ROLES[role] else Client()
    before = [list(model.objects.order_by("pk").values()) for model in models]
    for address in filter(is_console, addresses(url_arguments)):
        if "logout" not in address.path:
            client.post(address.path, {"outcome": "refunded", "note": "x", "confirmed": "1"})
            client.post(address.path, {"action": "delete_selected", "_selected_action": "1"})
    assert [list(model.objects.order_by("pk").values()) for model in models] == before


# Customers, Stripe, services


def valid_requests(url_arguments) -> dict[tuple[str, str], dict[str, object]]:
    """The arguments of a valid request, for each row of the table that needs any."""
    session = url_arguments["session_id"]
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


def without_credentials(valid: dict[str, object]) -> dict[str, object]:
    """The same request with only its body and content type."""
    return {name: value for name, value in valid.items() if name in ("data", "content_type")}


@pytest.mark.parametrize("role", ["Nobody", "Superuser"])
def test_the_public_urls_match_the_table(prober, url_arguments, role):
    client, forger = prober(role), prober("Nobody", enforce_csrf_checks=True)
    for address in addresses(url_arguments):
        if is_console(address):
            continue
        for method in METHODS:
            row = PUBLIC.get((address.shape, method))
            valid = valid_requests(url_arguments).get((address.shape, method), {})
            if row is None:
                assert client.request(method, address.path).status_code in (401, 405), address
                continue
            answer = client.request(method, address.path, **valid)
            assert answer.status_code == int(row["With it"]), (method, address, answer.content)
            if row["Without it"]:
                sender = forger if "form" in row["Needs"] else client
                answer = sender.request(method, address.path, **without_credentials(valid))
                assert answer.status_code == int(row["Without it"]), (method, address)


def test_cross_site_forms_are_rejected_everywhere(prober, url_arguments):
    """URLs that read no cookie reject forms altogether."""
    form = {"content_type": "application/x-www-form-urlencoded", "data": "tier=quick&query=x"}
    client = prober("Superuser", enforce_csrf_checks=True)
    for address in addresses(url_arguments):
        answer = client.request("POST", address.path, **form)
        if is_console(address) or address.shape == "/":
            assert answer.status_code == 403, address
            assert "Please send the form again" in answer.content.decode(), address
        else:
            assert answer.status_code in (400, 401, 403, 405, 415), address


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", ""])
def test_the_api_takes_no_forms(client, kind):
    body = '{"tier": "quick", "query": "Should I?"}'
    answer = client.post("/api/checkout", data=body, content_type=kind)
    assert answer.status_code in (400, 415)
    assert not Order.objects.exists()
