"""Any filtered list as CSV or JSON lines: streamed, harmless, and without what is hidden."""

import csv
import io
import json

import pytest
from django.urls import reverse

from audit.models import Action, LogEntry
from verdicts.admin.export import cell
from verdicts.models import Order

pytestmark = pytest.mark.django_db


def export(client, form: str, **filters: str):
    return client.get(reverse("admin:verdicts_order_export", args=[form]), filters)


def rows(response) -> list[dict]:
    return list(csv.DictReader(io.StringIO(b"".join(response).decode(), newline="")))


def test_what_is_exported_is_the_filtered_list(reviewer, paid_order):
    paid_order("quick")
    full = paid_order("full")
    found = rows(export(reviewer, "csv", tier__exact="full"))
    assert [row["id"] for row in found] == [str(full.pk)]
    (line,) = b"".join(export(reviewer, "jsonl", q=full.session_id)).splitlines()
    assert json.loads(line)["email"] == "buyer@example.com"


def test_it_is_streamed_as_a_file(reviewer, paid_order):
    for _ in range(3):
        paid_order()
    answer = export(reviewer, "csv")
    assert answer.streaming
    assert answer["Content-Disposition"].startswith('attachment; filename="order-')
    assert "no-store" in answer["Cache-Control"]
    parts = list(answer)
    assert len(parts) == 4  # a row at a time


def test_a_spreadsheet_runs_nothing(reviewer, paid_order):
    paid_order(query="=HYPERLINK(1)")
    (row,) = rows(export(reviewer, "csv"))
    assert row["query"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("evil", ["=1", "+1", "-1", "@x", "\tx", "\rx", " =1", "\x00=1", "\uff1d1"])
def test_what_begins_like_a_formula_is_defused(evil):
    assert cell(evil) == f"'{evil}"


def test_so_is_what_begins_like_one_on_a_line_of_its_own():
    assert cell("\n=1") == "'\n'=1"


def test_numbers_stay_numbers():
    assert (cell(-1.5), cell(None), cell(True), cell([1])) == ("-1.5", "", "True", "[1]")


def test_without_permission_the_columns_are_not_there(person, paid_order):
    order = paid_order()
    (row,) = rows(export(person("Operator"), "csv"))
    assert not {"email", "query", "session_id", "payment_intent", "token"} & set(row)
    assert row["session"] not in ("", order.session_id)
    assert len(row["session"]) == 12


def test_another_form_or_filter_is_refused(reviewer):
    assert export(reviewer, "xlsx").status_code == 404
    assert export(reviewer, "csv", email__startswith="b").status_code == 400
    assert export(reviewer, "csv", status__exact="x").status_code == 200


def test_exporting_changes_nothing(reviewer, paid_order):
    paid_order()
    before = list(Order.objects.values())
    list(export(reviewer, "csv"))
    assert list(Order.objects.values()) == before


def test_what_was_searched_for_is_not_on_record(reviewer, delivered):
    """It is mostly an address or a session id, operators read the record, and it is for ever."""
    order = delivered("quick")
    for term in ("Buyer@Example.com", order.session_id):
        b"".join(export(reviewer, "csv", q=term, tier__exact="quick"))
    reasons = [one.reason for one in Action.objects.all()]
    assert reasons == ["q=…&tier__exact=quick"] * 2
    logged = "".join(LogEntry.objects.values_list("entry", flat=True))
    assert "xample.com" not in logged
