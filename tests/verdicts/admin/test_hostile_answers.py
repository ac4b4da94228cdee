"""Hostile model output stays plain text: on pages, in emails, console, exports and logs."""

import csv
import email
import io
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from audit.core.spreadsheet import escape_formulas
from audit.models import CrosscheckLog
from oracle_site.service_log import JsonFormatter, LineFormatter
from tests.support.hostile import (
    CORPUS,
    HARMLESS,
    LINKED,
    SLOTS,
    Entry,
    Skeleton,
    batches,
    control_characters,
    verdict_of,
)
from tests.verdicts.test_hostile_queries import ACCEPTED, is_accepted
from verdicts.clients import send_message
from verdicts.core.prompt import MAX_QUERY
from verdicts.generation.client import Answer
from verdicts.generation.fulfil import fulfil
from verdicts.mail.outbox import deliver
from verdicts.models import Case, Order, Status, Verdict

# Rendering does not depend on the database.
pytestmark = [pytest.mark.django_db, pytest.mark.once]


@dataclass(frozen=True)
class Rendered:
    """Everything that is rendered from a model's answer."""

    pages: dict[str, str]
    message: EmailMessage
    api: bytes
    exports: dict[str, str]


@pytest.fixture
def judged(paid_order) -> Callable[..., Order]:
    """Makes an order that the model answered with the given output."""

    def make(output: str, query: str = HARMLESS) -> Order:
        order = paid_order("strategy", query)
        answer = Answer(output, "STOP", "", "v", "r", 1, 1)
        fulfil(order.pk, model="gemini-2.5-flash", ask=lambda _: answer)
        order.refresh_from_db()
        return order

    return make


@pytest.fixture
def render(judged, reviewer, settings) -> Callable[..., Rendered]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

    def make(*texts: str) -> Rendered:
        query = "\n".join(text for text in texts if is_accepted(text))
        order = judged(json.dumps(verdict_of(*texts)), query=query[:MAX_QUERY] or HARMLESS)
        assert order.status == Status.DELIVERED
        for delivery in order.deliveries.all():
            deliver(delivery.pk, send=send_message)
        parameters = {"session_id": order.session_id}
        verdict = Verdict.objects.get(order=order)
        console = {
            "order": reverse("admin:verdicts_order_change", args=[order.pk]),
            "verdict": reverse("admin:verdicts_verdict_change", args=[verdict.pk]),
        }
        export_url = reverse("admin:verdicts_verdict_export", args=["csv"])
        return Rendered(
            pages={
                "result": Client().get("/oracle/result", parameters).content.decode(),
                **{name: reviewer.get(path).content.decode() for name, path in console.items()},
            },
            message=email.message_from_bytes(
                mail.outbox[-1].message().as_bytes(), policy=email.policy.default
            ),
            api=Client().get("/api/verdict", parameters).content,
            exports={
                form: b"".join(reviewer.get(export_url.replace("csv", form))).decode()
                for form in ("csv", "jsonl")
            },
        )

    return make


def parts(message: EmailMessage) -> dict[str, str]:
    return {part.get_content_type(): part.get_content() for part in message.iter_parts()}


def test_a_hostile_verdict_is_rendered_as_text_only(render):
    harmless = render(HARMLESS)
    for batch in batches():
        found = render(*(entry.text for entry in batch))
        names = [entry.name for entry in batch]
        for name, page in found.pages.items():
            assert_same_markup(page, harmless.pages[name], name, names)
        assert_email_has_only_text(found.message, harmless.message, names)
        assert json.loads(found.api)["verdict"]["summary"].startswith(batch[0].text)
        assert found.api.count(b"\n") == 0
        assert_exports_are_safe(found.exports, batch[0])


def assert_same_markup(page: str, usual: str, name: str, names: list[str]) -> None:
    shown, expected = Skeleton(page), Skeleton(usual)
    assert without_breaks(shown) == without_breaks(expected), (name, names)
    for address in shown.leads_to:
        assert address.startswith(("/", "#", "?", "mailto:oracle@42sisters.ai", "data:image")), (
            names
        )
    if name == "result":
        assert control_characters(page) == set()


def without_breaks(page: Skeleton) -> list[tuple[str, ...]]:
    """The elements without `<br>`, which a text's line breaks become."""
    return [element for element in page.elements if element != ("br",)]


def assert_email_has_only_text(
    message: EmailMessage, usual: EmailMessage, names: list[str]
) -> None:
    assert message.keys() == usual.keys()
    same = ("Subject", "From", "To", "Reply-To", "Auto-Submitted")
    assert [message[name] for name in same] == [usual[name] for name in same]
    assert list(parts(message)) == list(parts(usual)) == ["text/plain", "text/html"]
    text, html = parts(message).values()
    shown, expected = Skeleton(html), Skeleton(parts(usual)["text/html"])
    assert shown.elements == expected.elements, names
    assert all("evil" not in address for address in shown.leads_to)
    expected_links = {*LINKED.findall(parts(usual)["text/plain"]), *LINKED.findall(expected.text)}
    for version in (text, shown.text):
        assert set(LINKED.findall(version)) <= expected_links, names
        assert control_characters(version) == set()


def assert_exports_are_safe(exports: dict[str, str], entry: Entry) -> None:
    count = Verdict.objects.count()
    for delimiter in ",;\t|":
        rows = list(csv.reader(io.StringIO(exports["csv"], newline=""), delimiter=delimiter))
        cells = [cell for row in rows for cell in row]
        assert [cell for cell in cells if escape_formulas(cell) != cell] == [], delimiter
        assert delimiter != "," or len(rows) == count + 1
    lines = exports["jsonl"].splitlines()
    assert len(lines) == count
    newest = max((json.loads(line) for line in lines), key=lambda line: line["id"])
    assert newest["payload"]["summary"].startswith(entry.text)


def test_rejected_output_is_shown_as_text_in_the_console(judged, reviewer):
    """As plain text, in the fields of an incomplete answer, and as hostile JSON."""
    usual = [
        page for one in (HARMLESS, incomplete(HARMLESS)) for page in pages_of(judged(one), reviewer)
    ]
    tags = {element[0] for page in usual for element in Skeleton(page).elements}
    outputs = [entry.text for entry in CORPUS if entry.kind == "json"]
    for batch in batches():
        outputs += ["\n".join(entry.text for entry in batch), incomplete(*(e.text for e in batch))]
    for output in outputs:
        for page in pages_of(judged(output), reviewer):
            shown = Skeleton(page)
            assert {element[0] for element in shown.elements} <= tags, output
            assert not [e for e in shown.elements if any(name.startswith("on") for name in e)]
            assert all("evil" not in address for address in shown.leads_to)


def incomplete(*texts: str) -> str:
    """An incomplete answer, with the texts in expected and in unexpected fields."""
    fields = {text: text for text in texts}
    return json.dumps({"verdict": texts[0], "summary": texts[-1], "breakdown": fields, **fields})


def pages_of(order: Order, reviewer: Client) -> list[str]:
    assert order.status == Status.REJECTED
    case = Case.objects.get(order=order)
    check = CrosscheckLog.objects.get(session_id=order.session_id)
    paths = [
        reverse("admin:verdicts_case_change", args=[case.pk]),
        reverse("admin:audit_crosschecklog_change", args=[check.pk]),
    ]
    return [reviewer.get(path).content.decode() for path in paths]


@pytest.mark.parametrize(
    "formatter", [LineFormatter("%(asctime)s %(levelname)s %(message)s"), JsonFormatter()]
)
@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_no_text_can_forge_a_line_of_the_service_log(entry: Entry, formatter):
    error = RuntimeError(entry.text)
    exc_info = (RuntimeError, error, None)
    record = logging.LogRecord("x", 40, "x.py", 1, "odd: %s", (entry.text,), exc_info)
    first, *more = formatter.format(record).split("\n")
    assert "odd: " in first
    assert all(line.startswith("    ") for line in more)
    assert all(one.isprintable() for line in (first, *more) for one in line)


def test_customers_queries_are_text_in_console_and_exports(paid_order, reviewer):
    expected = Skeleton(order_page(reviewer, paid_order("quick", HARMLESS))).elements
    for start in range(0, len(ACCEPTED), SLOTS):
        batch = ACCEPTED[start : start + SLOTS]
        query = "\n".join(entry.text for entry in batch)[:MAX_QUERY]
        order = paid_order("quick", query)
        page = Skeleton(order_page(reviewer, order))
        assert page.elements == expected, [entry.name for entry in batch]
        assert order.query in page.text, [entry.name for entry in batch]
    export = b"".join(reviewer.get(reverse("admin:verdicts_order_export", args=["csv"]))).decode()
    for delimiter in ",;\t|":
        rows = list(csv.reader(io.StringIO(export, newline=""), delimiter=delimiter))
        assert [cell for row in rows for cell in row if escape_formulas(cell) != cell] == []


def order_page(reviewer: Client, order: Order) -> str:
    return reviewer.get(reverse("admin:verdicts_order_change", args=[order.pk])).content.decode()
