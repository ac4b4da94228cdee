"""Frequent operations scan no table that grows with the number of orders, by their query plans."""

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
from verdicts.monitoring.metrics import exposition
from verdicts.reconciliation.sweep import sweep
from verdicts.results.read_counter import hits

# Tables with at least one row for every order.
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

on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL's storage")


class Plans:
    """An execute wrapper that explains every query before it is executed."""

    def __init__(self) -> None:
        self.full_scans: dict[str, str] = {}  # by query: the table and index that is scanned
        self.covering: set[str] = set()  # indexes that were read without their table
        self._partial = _partial_indexes()

    def __call__(self, execute, sql: str, params, many: bool, context) -> Any:
        rows = list(params) if many else [params]  # with one plan for all
        if sql.lstrip().startswith(("SELECT", "UPDATE", "DELETE")) and rows:
            with connection.cursor() as cursor:
                explain = self._sqlite if connection.vendor == "sqlite" else self._postgresql
                explain(cursor, sql, rows[0])
        return execute(sql, rows if many else params, many, context)

    def _sqlite(self, cursor, sql: str, params) -> None:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        steps = [step.split() for _, _, _, step in cursor.fetchall()]
        sorts = any(words[:3] == ["USE", "TEMP", "B-TREE"] for words in steps)
        for words in steps:
            index = words[words.index("INDEX") + 1] if "INDEX" in words else ""
            if "COVERING" in words:
                self.covering.add(index)
            if words[0] == "SCAN":
                self._add_scan(words[1], index, sql, sorts=sorts)

    def _postgresql(self, cursor, sql: str, params) -> None:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        found = cursor.fetchone()[0]
        nodes = [(json.loads(found) if isinstance(found, str) else found)[0]["Plan"]]
        for node in nodes:  # grows while it is iterated
            nodes += node.get("Plans", [])
        sorts = any("Sort" in node["Node Type"] for node in nodes)
        for node in nodes:
            index = node.get("Index Name", "")
            if node["Node Type"] == "Index Only Scan":
                self.covering.add(index)
            if "Scan" in node["Node Type"] and "Index Cond" not in node:
                self._add_scan(node.get("Relation Name", ""), index, sql, sorts=sorts)

    def _add_scan(self, table: str, index: str, sql: str, *, sorts: bool) -> None:
        # Without a filter or a sort, a LIMIT stops the scan after the first rows.
        limited = "LIMIT" in sql and "WHERE" not in sql and not sorts
        if table in GROWING and index not in self._partial and not limited:
            self.full_scans[sql] = f"{table} {index}"


def _partial_indexes() -> set[str]:
    """Indexes with a condition: they contain only the few rows that match it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'"
            if connection.vendor == "sqlite"
            else "SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL"
        )
        return {name for (name,) in cursor.fetchall()}


@contextmanager
def explained() -> Iterator[Plans]:
    """Collects query plans. Makes PostgreSQL prefer indexes, although the tables are small."""
    plans = Plans()
    scans = ("enable_seqscan", "enable_bitmapscan")
    with connection.cursor() as cursor:
        for scan in scans if connection.vendor == "postgresql" else ():
            cursor.execute(f"SET {scan} = off")
    with connection.execute_wrapper(plans):
        yield plans
    with connection.cursor() as cursor:
        for scan in scans if connection.vendor == "postgresql" else ():
            cursor.execute(f"RESET {scan}")


def test_a_limit_avoids_a_full_scan_only_in_the_order_of_an_index(db):
    with explained() as plans:
        list(Order.objects.order_by("-pk")[:5])
    assert plans.full_scans == {}
    with explained() as plans:
        list(Order.objects.order_by("price_cents")[:5])
    assert [scan.split()[0] for scan in plans.full_scans.values()] == ["verdicts_order"]


def test_executemany_is_explained_too(db):
    by_key = "UPDATE verdicts_order SET hits = %s WHERE session_id = %s"
    by_price = "UPDATE verdicts_order SET hits = %s WHERE price_cents = %s"
    with explained() as plans, connection.cursor() as cursor:
        cursor.executemany(by_key, [(1, "a"), (2, "b")])
        cursor.executemany(by_key, [])
        cursor.executemany(by_price, [(1, 500), (2, 200)])
    assert [*plans.full_scans] == [by_price]


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_superuser("grace"))
    return client


@pytest.fixture
def operations(
    ask, missed, paid_order, run_jobs, staff, sandbox, monkeypatch
) -> dict[str, Callable[[], object]]:
    """What a site does often."""
    # A list that fits on one page is read without a LIMIT.
    monkeypatch.setattr(admin.site.get_model_admin(Order), "list_per_page", 1)
    order: Order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")

    def hit() -> None:
        assert ask(order.session_id).status_code == 200
        hits.flush()

    def page(path: str) -> Callable[[], object]:
        return lambda: staff.get(path)

    return {
        "a cache miss, its comparison and its notice": lambda: (ask(order.session_id), run_jobs()),
        "a cache hit": hit,
        "a payment, its verdict and its email": lambda: (paid_order("quick"), run_jobs()),
        "the sweep": sweep,
        "metrics": lambda: (exposition.forget(), exposition.text()),
        "the report": lambda: call_command("divergence_report", stdout=io.StringIO()),
        "the result page": page(f"/oracle/result?session_id={order.session_id}"),
        "the console's start page": page("/admin/"),
        "the review queue": page("/admin/verdicts/case/"),
        "orders": page("/admin/verdicts/order/"),
        "an order": page(f"/admin/verdicts/order/{order.pk}/change/"),
        "orders by email": page("/admin/verdicts/order/?q=Buyer@Example.com"),
        "orders that failed": page("/admin/verdicts/order/?status__exact=failed"),
        "emails that failed": page("/admin/verdicts/delivery/?state__exact=failed"),
        "calls that failed": page("/admin/audit/modelcall/?outcome__exact=busy"),
        "contradictions": page("/admin/audit/divergenceevent/?level__exact=significant"),
    }


@pytest.mark.once  # PostgreSQL's plans depend on statistics, which a few rows do not provide
def test_no_frequent_operation_scans_a_whole_table(operations):
    scans = {}
    for name, operation in operations.items():
        with explained() as plans:
            operation()
        scans |= {name: plans.full_scans} if plans.full_scans else {}
    assert scans == {}


@pytest.fixture
def truncated(db) -> None:
    """PostgreSQL's plans depend on a table's pages, which other tests' deleted rows still fill."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE audit_divergenceevent CASCADE")


def test_the_divergence_report_reads_only_an_index(truncated):
    with explained() as plans:
        call_command("divergence_report", stdout=io.StringIO())
    assert "divergence_day" in plans.covering


def test_the_models_variance_is_read_only_from_an_index(truncated):
    with explained() as plans:
        variance(timezone.now())
    assert "divergence_day" in plans.covering


def test_a_cache_hit_is_found_by_its_primary_key(delivered):
    delivered("quick")
    hit: str = import_module(f"verdicts.results.reader.lookup_{connection.vendor}").HIT
    with explained(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("ANALYZE")  # the table has a single row
            cursor.execute(f"EXPLAIN QUERY PLAN {hit.replace('?', '%s')}", [2, 1])
            assert "USING INTEGER PRIMARY KEY (rowid=?)" in str(cursor.fetchall())
        else:
            cursor.execute(f"EXPLAIN (GENERIC_PLAN) {hit}")
            assert "Index Cond: (id = ANY ($1))" in str(cursor.fetchall())


@on_postgresql
def test_a_cache_hit_decompresses_nothing(delivered):
    """A body of ordinary length is stored in its row, uncompressed."""
    order: Order = delivered("full")
    CachedVerdict.objects.filter(session_id=order.session_id).update(body="a word " * 400)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_column_compression(body), body FROM verdicts_cachedverdict")
        assert cursor.fetchall() == [(None, "a word " * 400)]
