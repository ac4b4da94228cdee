"""Export as CSV or JSON lines: filtered, streamed, safe for spreadsheets, without hidden fields."""

import csv
import io
import json

import pytest
from django.urls import reverse

from audit.models import Action, LogEntry
from verdicts.admin.export import csv_cell
from verdicts.models import Order

pytestmark = pytest.mark.django_db


def export(client, form: str, **filters: str):
    return client.get(reverse("admin:verdicts_order_export", args=[form]), filters)


def rows(response) -> list[dict]:
    return list(csv.DictReader(io.StringIO(b"".join(response).decode(), newline="")))


def test_the_export_has_the_filtered_rows(reviewer, paid_order):
    paid_order("quick")
    full = paid_order("full")
    found = rows(export(reviewer, "csv", tier__exact="full"))
    assert [row["id"] for row in found] == [str(full.pk)]
    (line,) = b"".join(export(reviewer, "jsonl", q=full.session_id)).splitlines()
    assert json.loads(line)["email"] == "buyer@example.com"


def test_the_export_is_streamed_as_an_attachment(reviewer, paid_order):
    for _ in range(3):
        paid_order()
    answer = export(reviewer, "csv")
    assert answer.streaming
    assert answer["Content-Disposition"].startswith('attachment; filename="order-')
    assert "no-store" in answer["Cache-Control"]
    parts = list(answer)
    assert len(parts) == 4  # a row at a time


def test_formulas_are_escaped(reviewer, paid_order):
    paid_order(query="=HYPERLINK(1)")
    (row,) = rows(export(reviewer, "csv"))
    assert row["query"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("evil", ["=1", "+1", "-1", "@x", "\tx", "\rx", " =1", "\x00=1", "\uff1d1"])
def test_every_start_of_a_formula_is_escaped(evil):
    assert csv_cell(evil) == f"'{evil}"


def test_a_formula_on_a_later_line_is_escaped_too():
    assert csv_cell("\n=1") == "'\n'=1"


def test_numbers_are_not_escaped():
    assert (csv_cell(-1.5), csv_cell(None), csv_cell(True), csv_cell([1])) == (
        "-1.5",
        "",
        "True",
        "[1]",
    )


def test_hidden_columns_are_left_out(client_for, paid_order):
    order = paid_order()
    (row,) = rows(export(client_for("Operator"), "csv"))
    assert not {"email", "query", "session_id", "payment_intent", "token"} & set(row)
    assert row["session"] not in ("", order.session_id)
    assert len(row["session"]) == 12


def test_unknown_formats_and_filters_are_rejected(reviewer):
    assert export(reviewer, "xlsx").status_code == 404
    assert export(reviewer, "csv", email__startswith="b").status_code == 400
    assert export(reviewer, "csv", status__exact="x").status_code == 200


def test_an_export_changes_no_record(reviewer, paid_order):
    paid_order()
    before = list(Order.objects.values())
    list(export(reviewer, "csv"))
    assert list(Order.objects.values()) == before


def test_search_terms_are_not_recorded(reviewer, delivered):
    """Mostly email addresses or session ids; actions are permanent, and operators read them."""
    order = delivered("quick")
    for term in ("Buyer@Example.com", order.session_id):
        b"".join(export(reviewer, "csv", q=term, tier__exact="quick"))
    reasons = [one.reason for one in Action.objects.all()]
    assert reasons == ["q=…&tier__exact=quick"] * 2
    logged = "".join(LogEntry.objects.values_list("entry", flat=True))
    assert "xample.com" not in logged
