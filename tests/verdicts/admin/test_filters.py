"""Every filter of the console uses an index for each of its values, also rare ones."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.views.main import ChangeList
from django.db import connection

from tests.support.addresses import records
from tests.verdicts.test_query_plans import GROWING, _partial_indexes, explained
from verdicts.admin.capped_paginator import MAX_LISTED, CappedPaginator

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Values of nearly every row: a scan from the newest row finds a page of them at once.
COMMON = {
    "audit/crosschecklog/?approved__exact=1",
    "audit/crosschecklog/?flagged__exact=0",
    "verdicts/order/?smoke__exact=0",
}
# These match several lists of causes, so the rows found have to be sorted.
SEVERAL = {f"audit/divergenceevent/?cause={cause}" for cause in ("prompt", "config", "model")}


class Sorts:
    """Collects the queries that sort all matching rows instead of reading them in order."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.named: set[str] = set()  # tables and indexes in the query plans
        self._small = _partial_indexes()

    def __call__(self, execute, sql: str, params, many: bool, context) -> Any:
        if " ORDER BY " in sql and not sql.startswith("EXPLAIN"):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
                steps = [step for _, _, _, step in cursor.fetchall()]
            first = steps[0].split()
            self.named |= {word for step in steps for word in step.split()}
            # Sorting the few rows of a partial index is acceptable.
            if "USE TEMP B-TREE FOR ORDER BY" in steps and not self._small & {*first}:
                self.found += [sql] if first[1] in GROWING else []
        return execute(sql, params, many, context)


@pytest.fixture
def long_lists(monkeypatch) -> None:
    """Lists that do not fit on one page: Django reads short ones whole."""
    count = CappedPaginator.count.func
    monkeypatch.setattr(CappedPaginator, "count", property(lambda its: count(its) + MAX_LISTED))


def filtered(listed: ChangeList) -> Iterator[str]:
    """The query strings of the list with each choice of each filter."""
    for spec in listed.filter_specs:
        for choice in spec.choices(listed):
            if "query_string" in choice:
                yield choice["query_string"]
            else:
                begin, end = spec.expected_parameters()
                days = ({begin: "2026-01-01"}, {end: "2026-02-01"})
                yield from (listed.get_query_string(some) for some in (*days, days[0] | days[1]))


def always_on(listed: ChangeList) -> list[str]:
    """The choices of filters that have a default: the others are combined with them."""
    specs = [[*spec.choices(listed)] for spec in listed.filter_specs]
    found = [choices for choices in specs if choices[0].get("display", "All") != "All"]
    return [choice["query_string"] for choices in found for choice in choices]


def pages(client, path: str) -> set[str]:
    def opened(query: str) -> ChangeList:
        return client.get(f"/admin/{path}/{query}").context["cl"]

    listed = opened("")
    return {
        f"{path}/{query}"
        for base in ["", *always_on(listed)]
        for query in filtered(opened(base) if base else listed)
    }


@pytest.mark.once  # PostgreSQL's planner needs the statistics of a large table
@pytest.mark.parametrize("path", records())
def test_every_filter_uses_an_index(admin_client, long_lists, path):
    found = {}
    for page in sorted(pages(admin_client, path) - COMMON):
        sorts = Sorts()
        with explained() as plans, connection.execute_wrapper(sorts):
            assert admin_client.get(f"/admin/{page}").status_code == 200, page
        if read := [*plans.full_scans.values(), *(sorts.found if page not in SEVERAL else ())]:
            found[page] = read
    assert found == {}


@pytest.mark.once
@pytest.mark.parametrize(
    ("page", "index"),
    [
        ("verdicts/case/?standing=closed&kind__exact=held", "case_closed_kind"),
        ("verdicts/case/?standing=closed&outcome__exact=released", "case_closed_outcome"),
        ("audit/crosschecklog/?crosscheck_reason=gate_error", "crosscheck_reason"),
    ],
)
def test_filters_for_rare_values_use_their_partial_index(admin_client, page, index):
    sorts = Sorts()
    with connection.execute_wrapper(sorts):
        admin_client.get(f"/admin/{page}")
    assert index in sorts.named
    assert sorts.found == []
