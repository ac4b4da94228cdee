"""Every filter of the console reads an index, whatever it is set to: a value may be rare."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.views.main import ChangeList
from django.db import connection

from tests.support.addresses import records
from tests.verdicts.test_query_plans import GROWING, _partial_indexes, explained
from verdicts.admin.capped_paginator import LISTED, BoundedPaginator

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# What nearly every row has is met at once on the way back from the newest.
COMMON = {
    "audit/crosschecklog/?approved__exact=1",
    "audit/crosschecklog/?flagged__exact=0",
    "verdicts/order/?smoke__exact=0",
}
# Several lists of causes name one of these: what they have is read, and put in order.
SEVERAL = {f"audit/divergenceevent/?cause={cause}" for cause in ("prompt", "config", "model")}


class Sorts:
    """Queries that read all they find before they can tell which come first."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.named: set[str] = set()  # tables and indexes, whatever they are read for
        self._small = _partial_indexes()

    def __call__(self, execute, sql: str, params, many: bool, context) -> Any:
        if " ORDER BY " in sql and not sql.startswith("EXPLAIN"):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
                steps = [step for _, _, _, step in cursor.fetchall()]
            first = steps[0].split()
            self.named |= {word for step in steps for word in step.split()}
            # Of one day or one moment a few may be put in order.
            if "USE TEMP B-TREE FOR ORDER BY" in steps and not self._small & {*first}:
                self.found += [sql] if first[1] in GROWING else []
        return execute(sql, params, many, context)


@pytest.fixture
def long_lists(monkeypatch) -> None:
    """Django reads all of what fits on one page."""
    count = BoundedPaginator.count.func
    monkeypatch.setattr(BoundedPaginator, "count", property(lambda its: count(its) + LISTED))


def filtered(listed: ChangeList) -> Iterator[str]:
    """The list with each of its filters set to each of its choices."""
    for spec in listed.filter_specs:
        for choice in spec.choices(listed):
            if "query_string" in choice:
                yield choice["query_string"]
            else:
                begin, end = spec.expected_parameters()
                days = ({begin: "2026-01-01"}, {end: "2026-02-01"})
                yield from (listed.get_query_string(some) for some in (*days, days[0] | days[1]))


def always_on(listed: ChangeList) -> list[str]:
    """Choices of what filters even where nothing is chosen: the others are made beside them."""
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


@pytest.mark.once  # PostgreSQL plans by statistics, which a test's few rows do not have
@pytest.mark.parametrize("path", records())
def test_whatever_is_filtered_for_is_found_by_an_index(admin_client, long_lists, path):
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
def test_what_is_rare_among_the_closed_or_rejected_has_an_index_there(admin_client, page, index):
    sorts = Sorts()
    with connection.execute_wrapper(sorts):
        admin_client.get(f"/admin/{page}")
    assert index in sorts.named
    assert sorts.found == []
