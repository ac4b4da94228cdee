"""What stays as quick as it is while the house grows: told by what is read, not by a clock."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from audit.variance import variance
from verdicts.models import CachedVerdict, Order
from verdicts.monitoring.metrics import metrics_cache
from verdicts.reconciliation.sweep import sweep
from verdicts.results.read_counter import hits

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
        rows = list(params) if many else [params]  # all of them are found alike
        if sql.lstrip().startswith(("SELECT", "UPDATE", "DELETE")) and rows:
            with connection.cursor() as cursor:
                look = self._sqlite if connection.vendor == "sqlite" else self._postgresql
                look(cursor, sql, rows[0])
        return execute(sql, rows if many else params, many, context)

    def _sqlite(self, cursor, sql: str, params) -> None:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        steps = [step.split() for _, _, _, step in cursor.fetchall()]
        sorts = any(words[:3] == ["USE", "TEMP", "B-TREE"] for words in steps)
        for words in steps:
            index = words[words.index("INDEX") + 1] if "INDEX" in words else ""
            if "COVERING" in words:
                self.used.add(index)
            if words[0] == "SCAN":
                self._read(words[1], index, sql, sorts=sorts)

    def _postgresql(self, cursor, sql: str, params) -> None:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        found = cursor.fetchone()[0]
        nodes = [(json.loads(found) if isinstance(found, str) else found)[0]["Plan"]]
        for node in nodes:  # which grow as it goes
            nodes += node.get("Plans", [])
        sorts = any("Sort" in node["Node Type"] for node in nodes)
        for node in nodes:
            index = node.get("Index Name", "")
            if node["Node Type"] == "Index Only Scan":
                self.used.add(index)
            if "Scan" in node["Node Type"] and "Index Cond" not in node:
                self._read(node.get("Relation Name", ""), index, sql, sorts=sorts)

    def _read(self, table: str, index: str, sql: str, *, sorts: bool) -> None:
        # Whoever sorts has to read all before the first of them is known.
        first_few = "LIMIT" in sql and "WHERE" not in sql and not sorts
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


def test_the_first_few_are_read_alone_only_in_the_order_of_an_index(db):
    with explained() as plans:
        list(Order.objects.order_by("-pk")[:5])
    assert plans.whole == {}
    with explained() as plans:
        list(Order.objects.order_by("price_cents")[:5])
    assert [found.split()[0] for found in plans.whole.values()] == ["verdicts_order"]


def test_one_statement_for_many_rows_is_explained_too(db):
    by_key = "UPDATE verdicts_order SET hits = %s WHERE session_id = %s"
    by_price = "UPDATE verdicts_order SET hits = %s WHERE price_cents = %s"
    with explained() as plans, connection.cursor() as cursor:
        cursor.executemany(by_key, [(1, "a"), (2, "b")])
        cursor.executemany(by_key, [])
        cursor.executemany(by_price, [(1, 500), (2, 200)])
    assert [*plans.whole] == [by_price]


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
        "metrics": lambda: (metrics_cache.clear(), metrics_cache.text()),
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


@pytest.fixture
def no_traces(db) -> None:
    """PostgreSQL plans by the pages that a table has, those of other tests' rows included."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE audit_divergenceevent CASCADE")


def test_a_report_reads_an_index_and_no_rows(no_traces):
    with explained() as plans:
        call_command("divergence_report", stdout=io.StringIO())
    assert "divergence_day" in plans.used


def test_the_models_variance_is_read_from_an_index_too(no_traces):
    with explained() as plans:
        variance(timezone.now())
    assert "divergence_day" in plans.used


def test_a_hit_is_found_by_its_number_and_by_no_other_index(delivered):
    delivered("quick")
    hit: str = import_module(f"verdicts.results.reader.lookup_{connection.vendor}").HIT
    with explained(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("ANALYZE")  # of a table with a single row
            cursor.execute(f"EXPLAIN QUERY PLAN {hit.replace('?', '%s')}", [2, 1])
            assert "USING INTEGER PRIMARY KEY (rowid=?)" in str(cursor.fetchall())
        else:
            cursor.execute(f"EXPLAIN (GENERIC_PLAN) {hit}")
            assert "Index Cond: (id = ANY ($1))" in str(cursor.fetchall())


@on_postgresql
def test_a_hit_unpacks_nothing(delivered):
    """A body of ordinary length lies in its row, as it is sent."""
    order: Order = delivered("full")
    CachedVerdict.objects.filter(session_id=order.session_id).update(body="a word " * 400)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_compression(body), body FROM verdicts_cachedverdict")
        assert cursor.fetchall() == [(None, "a word " * 400)]
