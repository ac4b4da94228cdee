"""What stays as quick as it is while the house grows: told by what is read, not by a clock."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from audit.variance import variance
from verdicts.models import CachedVerdict, Order
from verdicts.operators.exposition import exposition
from verdicts.services.hits import hits
from verdicts.services.sweep import sweep

# Tables with a row or more for every order.
GROWING = {
    "audit_action",
    "audit_crosschecklog",
    "audit_divergenceevent",
    "audit_logentry",
    "audit_modelcall",
    "verdicts_cachedverdict",
    "verdicts_case",
    "verdicts_delivery",
    "verdicts_order",
    "verdicts_stripeevent",
    "verdicts_verdict",
}

on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="how PostgreSQL stores it"
)


class Plans:
    """What the database would read for each query that is made."""

    def __init__(self) -> None:
        self.whole: dict[str, str] = {}  # a table, or an index of all of it, by the query
        self.used: set[str] = set()  # indexes that answered without the table
        self._partial = _partial_indexes()

    def __call__(self, execute, sql: str, params, many: bool, context) -> Any:
        if sql.lstrip().startswith(("SELECT", "UPDATE", "DELETE")) and not many:
            with connection.cursor() as cursor:
                look = self._sqlite if connection.vendor == "sqlite" else self._postgresql
                look(cursor, sql, params)
        return execute(sql, params, many, context)

    def _sqlite(self, cursor, sql: str, params) -> None:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        for _, _, _, step in cursor.fetchall():
            words = step.split()
            index = words[words.index("INDEX") + 1] if "INDEX" in words else ""
            if "COVERING" in words:
                self.used.add(index)
            if words[0] == "SCAN":
                self._read(words[1], index, sql)

    def _postgresql(self, cursor, sql: str, params) -> None:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        found = cursor.fetchone()[0]
        nodes = [(json.loads(found) if isinstance(found, str) else found)[0]["Plan"]]
        while nodes:
            node = nodes.pop()
            nodes += node.get("Plans", [])
            index = node.get("Index Name", "")
            if node["Node Type"] == "Index Only Scan":
                self.used.add(index)
            if "Scan" in node["Node Type"] and "Index Cond" not in node:
                self._read(node.get("Relation Name", ""), index, sql)

    def _read(self, table: str, index: str, sql: str) -> None:
        first_few = "LIMIT" in sql and "WHERE" not in sql
        if table in GROWING and index not in self._partial and not first_few:
            self.whole[sql] = f"{table} {index}"


def _partial_indexes() -> set[str]:
    """Which are as small as the few rows that they are of."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'"
            if connection.vendor == "sqlite"
            else "SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL"
        )
        return {name for (name,) in cursor.fetchall()}


@contextmanager
def explained() -> Iterator[Plans]:
    """With so few rows PostgreSQL would read them all: it is told to use indexes if it can."""
    plans = Plans()
    planner = ("enable_seqscan", "enable_bitmapscan")
    with connection.cursor() as cursor:
        for one in planner if connection.vendor == "postgresql" else ():
            cursor.execute(f"SET {one} = off")
    with connection.execute_wrapper(plans):
        yield plans
    with connection.cursor() as cursor:
        for one in planner if connection.vendor == "postgresql" else ():
            cursor.execute(f"RESET {one}")


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_superuser("grace"))
    return client


@pytest.fixture
def work(
    ask, missed, paid_order, run_jobs, staff, sandbox, monkeypatch
) -> dict[str, Callable[[], object]]:
    """Whatever happens again and again in a house."""
    # Of what fits on one page Django reads all.
    monkeypatch.setattr(admin.site.get_model_admin(Order), "list_per_page", 1)
    order: Order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")

    def hit() -> None:
        assert ask(order.session_id).status_code == 200
        hits.flush()

    def page(path: str) -> Callable[[], object]:
        return lambda: staff.get(path)

    return {
        "a miss, its comparison and its notice": lambda: (ask(order.session_id), run_jobs()),
        "a hit": hit,
        "a payment, its verdict and its email": lambda: (paid_order("quick"), run_jobs()),
        "the sweep": sweep,
        "metrics": lambda: (exposition.forget(), exposition.text()),
        "the report": lambda: call_command("divergence_report", stdout=io.StringIO()),
        "the result page": page(f"/oracle/result?session_id={order.session_id}"),
        "home": page("/admin/"),
        "the review queue": page("/admin/verdicts/case/"),
        "orders": page("/admin/verdicts/order/"),
        "an order": page(f"/admin/verdicts/order/{order.pk}/change/"),
        "orders by email": page("/admin/verdicts/order/?q=Buyer@Example.com"),
        "orders that failed": page("/admin/verdicts/order/?status__exact=failed"),
        "emails that failed": page("/admin/verdicts/delivery/?state__exact=failed"),
        "calls that failed": page("/admin/audit/modelcall/?outcome__exact=busy"),
        "contradictions": page("/admin/audit/divergenceevent/?level__exact=significant"),
    }


@pytest.mark.once  # PostgreSQL plans by statistics, which a test's few rows do not have
def test_nothing_that_happens_again_and_again_reads_a_whole_table(work):
    found = {}
    for name, do in work.items():
        with explained() as plans:
            do()
        found |= {name: plans.whole} if plans.whole else {}
    assert found == {}


def test_a_report_reads_an_index_and_no_rows(db):
    with explained() as plans:
        call_command("divergence_report", stdout=io.StringIO())
    assert "divergence_day" in plans.used


def test_the_models_variance_is_read_from_an_index_too(db):
    with explained() as plans:
        variance(timezone.now())
    assert "divergence_day" in plans.used


@on_postgresql
def test_a_hit_unpacks_nothing(delivered):
    """A body of ordinary length lies in its row, as it is sent."""
    order: Order = delivered("full")
    CachedVerdict.objects.filter(session_id=order.session_id).update(body="a word " * 400)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_compression(body), body FROM verdicts_cachedverdict")
        assert cursor.fetchall() == [(None, "a word " * 400)]
