"""Hostile answers: text stays text on the page, in emails, in the console, in files and in logs."""

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
    handfuls,
    steers,
    verdict_of,
)
from tests.verdicts.test_hostile_queries import ACCEPTED, is_accepted
from verdicts.clients import send_message
from verdicts.core.prompt import MAX_QUERY
from verdicts.generation.client import Answer
from verdicts.generation.fulfil import fulfil
from verdicts.mail.outbox import deliver
from verdicts.models import Case, Order, Status, Verdict

# What is shown of a text does not depend on the database that it comes from.
pytestmark = [pytest.mark.django_db, pytest.mark.once]


@dataclass(frozen=True)
class Seen:
    """All that anybody gets to see of an answer."""

    pages: dict[str, str]
    letter: EmailMessage
    api: bytes
    exports: dict[str, str]


@pytest.fixture
def judged(paid_order) -> Callable[..., Order]:
    """An order to which the model answered that."""

    def make(output: str, query: str = HARMLESS) -> Order:
        order = paid_order("strategy", query)
        answer = Answer(output, "STOP", "", "v", "r", 1, 1)
        fulfil(order.pk, model="gemini-2.5-flash", ask=lambda _: answer)
        order.refresh_from_db()
        return order

    return make


@pytest.fixture
def seen(judged, reviewer, settings) -> Callable[..., Seen]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

    def look(*texts: str) -> Seen:
        asked = "\n".join(text for text in texts if is_accepted(text))
        order = judged(json.dumps(verdict_of(*texts)), query=asked[:MAX_QUERY] or HARMLESS)
        assert order.status == Status.DELIVERED
        for delivery in order.deliveries.all():
            deliver(delivery.pk, send=send_message)
        key = {"session_id": order.session_id}
        verdict = Verdict.objects.get(order=order)
        console = {
            "order": reverse("admin:verdicts_order_change", args=[order.pk]),
            "verdict": reverse("admin:verdicts_verdict_change", args=[verdict.pk]),
        }
        listed = reverse("admin:verdicts_verdict_export", args=["csv"])
        return Seen(
            pages={
                "result": Client().get("/oracle/result", key).content.decode(),
                **{name: reviewer.get(path).content.decode() for name, path in console.items()},
            },
            letter=email.message_from_bytes(
                mail.outbox[-1].message().as_bytes(), policy=email.policy.default
            ),
            api=Client().get("/api/verdict", key).content,
            exports={
                form: b"".join(reviewer.get(listed.replace("csv", form))).decode()
                for form in ("csv", "jsonl")
            },
        )

    return look


def parts(letter: EmailMessage) -> dict[str, str]:
    return {part.get_content_type(): part.get_content() for part in letter.iter_parts()}


def test_an_answer_is_text_and_nothing_else(seen):
    harmless = seen(HARMLESS)
    for handful in handfuls():
        found = seen(*(entry.text for entry in handful))
        names = [entry.name for entry in handful]
        for name, page in found.pages.items():
            is_markup_only(page, harmless.pages[name], name, names)
        is_in_a_letter_only_text(found.letter, harmless.letter, names)
        assert json.loads(found.api)["verdict"]["summary"].startswith(handful[0].text)
        assert found.api.count(b"\n") == 0
        is_harmless_in_files(found.exports, handful[0])


def is_markup_only(page: str, usual: str, name: str, names: list[str]) -> None:
    shown, expected = Skeleton(page), Skeleton(usual)
    assert without_breaks(shown) == without_breaks(expected), (name, names)
    for address in shown.leads_to:
        assert address.startswith(("/", "#", "?", "mailto:oracle@42sisters.ai", "data:image")), (
            names
        )
    if name == "result":
        assert steers(page) == set()


def without_breaks(page: Skeleton) -> list[tuple[str, ...]]:
    """Its elements, but for what stands for the line ends of a text."""
    return [element for element in page.elements if element != ("br",)]


def is_in_a_letter_only_text(letter: EmailMessage, usual: EmailMessage, names: list[str]) -> None:
    assert letter.keys() == usual.keys()
    same = ("Subject", "From", "To", "Reply-To", "Auto-Submitted")
    assert [letter[name] for name in same] == [usual[name] for name in same]
    assert list(parts(letter)) == list(parts(usual)) == ["text/plain", "text/html"]
    text, html = parts(letter).values()
    shown, expected = Skeleton(html), Skeleton(parts(usual)["text/html"])
    assert shown.elements == expected.elements, names
    assert all("evil" not in address for address in shown.leads_to)
    ours = {*LINKED.findall(parts(usual)["text/plain"]), *LINKED.findall(expected.text)}
    for said in (text, shown.text):
        assert set(LINKED.findall(said)) <= ours, names
        assert steers(said) == set()


def is_harmless_in_files(exports: dict[str, str], entry: Entry) -> None:
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


def test_what_was_held_back_is_text_in_the_console(judged, reviewer):
    """As no JSON at all, in the fields of an answer that is not whole, and as JSON of their own."""
    usual = [page for one in (HARMLESS, half(HARMLESS)) for page in pages_of(judged(one), reviewer)]
    tags = {element[0] for page in usual for element in Skeleton(page).elements}
    outputs = [entry.text for entry in CORPUS if entry.kind == "json"]
    for handful in handfuls():
        outputs += ["\n".join(entry.text for entry in handful), half(*(e.text for e in handful))]
    for output in outputs:
        for page in pages_of(judged(output), reviewer):
            shown = Skeleton(page)
            assert {element[0] for element in shown.elements} <= tags, output
            assert not [e for e in shown.elements if any(name.startswith("on") for name in e)]
            assert all("evil" not in address for address in shown.leads_to)


def half(*texts: str) -> str:
    """An answer that is not whole, with a text in places where one belongs and where none does."""
    said = {text: text for text in texts}
    return json.dumps({"verdict": texts[0], "summary": texts[-1], "breakdown": said, **said})


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
def test_no_text_makes_a_line_of_the_service_log(entry: Entry, formatter):
    error = RuntimeError(entry.text)
    exc_info = (RuntimeError, error, None)
    record = logging.LogRecord("x", 40, "x.py", 1, "odd: %s", (entry.text,), exc_info)
    first, *more = formatter.format(record).split("\n")
    assert "odd: " in first
    assert all(line.startswith("    ") for line in more)
    assert all(one.isprintable() for line in (first, *more) for one in line)


def test_queries_are_text_in_the_console_and_in_files(paid_order, reviewer):
    """What a customer wrote, seen by staff."""
    expected = Skeleton(order_page(reviewer, paid_order("quick", HARMLESS))).elements
    for start in range(0, len(ACCEPTED), SLOTS):
        handful = ACCEPTED[start : start + SLOTS]
        asked = "\n".join(entry.text for entry in handful)[:MAX_QUERY]
        order = paid_order("quick", asked)
        page = Skeleton(order_page(reviewer, order))
        assert page.elements == expected, [entry.name for entry in handful]
        assert order.query in page.text, [entry.name for entry in handful]
    export = b"".join(reviewer.get(reverse("admin:verdicts_order_export", args=["csv"]))).decode()
    for delimiter in ",;\t|":
        rows = list(csv.reader(io.StringIO(export, newline=""), delimiter=delimiter))
        assert [cell for row in rows for cell in row if escape_formulas(cell) != cell] == []


def order_page(reviewer: Client, order: Order) -> str:
    return reviewer.get(reverse("admin:verdicts_order_change", args=[order.pk])).content.decode()
