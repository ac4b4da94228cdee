"""Lists of large tables are capped, and count no further than the cap."""

import pytest
from django.db import connection
from django.urls import reverse

from verdicts.admin import capped_paginator
from verdicts.admin.capped_paginator import CappedPaginator
from verdicts.models import Order

pytestmark = pytest.mark.django_db


def test_a_long_list_is_capped_and_says_so(reviewer, paid_order, monkeypatch):
    for _ in range(3):
        paid_order()
    address = reverse("admin:verdicts_order_changelist")
    assert "3 orders" in reviewer.get(address).content.decode()
    monkeypatch.setattr(capped_paginator, "MAX_LISTED", 2)
    answer = reviewer.get(address)
    assert answer.context["cl"].result_count == 2
    assert "the first 2 are listed" in answer.content.decode()


def test_the_total_is_an_estimate_or_unknown(paid_order, monkeypatch):
    for _ in range(3):
        paid_order()
    monkeypatch.setattr(capped_paginator, "MAX_LISTED", 2)
    paginator = CappedPaginator(Order.objects.order_by("pk"), 10)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE verdicts_order")
        assert paginator.estimate == 3
    else:
        assert paginator.estimate is None
    assert CappedPaginator(Order.objects.filter(tier="full").order_by("pk"), 10).estimate is None


def test_a_list_needs_the_same_queries_for_more_rows(
    reviewer, paid_order, django_assert_num_queries
):
    address = reverse("admin:verdicts_order_changelist")
    reviewer.get(address)
    paid_order()
    with django_assert_num_queries(9 if connection.vendor == "postgresql" else 8) as few:
        reviewer.get(address)
    for _ in range(5):
        paid_order()
    with django_assert_num_queries(len(few)):
        reviewer.get(address)


def test_facets_are_disabled(reviewer, paid_order):
    paid_order()
    address = reverse("admin:verdicts_order_changelist")
    answer = reviewer.get(address, {"_facets": "True"})
    assert answer.context["cl"].add_facets is False
    assert "Show counts" not in reviewer.get(address).content.decode()


def test_an_empty_list_has_no_link_to_create_a_record(reviewer):
    text = reviewer.get(reverse("admin:verdicts_case_changelist")).content.decode()
    assert "Nothing is waiting." in text
    assert "Create" not in text
