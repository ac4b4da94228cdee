"""What the drill does to the site's database while it waits: it leaves the work to the site."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from drill.invariants.questions import is_at_rest, lost_pages, skip
from verdicts.jobs import queue
from verdicts.models import Order
from verdicts.reconciliation.sweep import STALE

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> Order:
    return Order.objects.create(
        tier="quick",
        query="A ferry?",
        status="paid",
        session_id="cs_test_drilled",
        price_cents=500,
        currency="usd",
        due_at=timezone.now() - STALE - timedelta(seconds=1),
    )


def jobs() -> list[str]:
    return [row.task["name"] for row in OrmQ.objects.order_by("pk")]


def test_what_is_left_behind_is_left_to_the_sites_own_workers(order):
    assert skip() == 0
    assert jobs() == [queue.SWEEP]  # and not the order's, which is for the sweep to queue


def test_while_a_job_is_free_nothing_is_ordered_and_no_time_passes(order):
    queue.enqueue(queue.DELIVER, 1)
    assert skip() == 0
    assert jobs() == [queue.DELIVER]


def test_where_nothing_is_left_behind_the_time_passes_until_something_is(order):
    Order.objects.update(due_at=timezone.now() + timedelta(hours=1))
    passed = skip()
    assert passed >= 3600 + STALE.total_seconds()
    assert jobs() == []
    assert skip() == 0
    assert jobs() == [queue.SWEEP]


def test_a_page_that_is_not_there_is_lost(order):
    assert lost_pages(["cs_test_drilled"]) == ["cs_test_drilled"]
    assert lost_pages([]) == []


def test_a_site_is_at_rest_once_its_own_sweep_is_over():
    assert not is_at_rest()
    Schedule.objects.filter(name="sweep").update(task="a")
    queue.enqueue(queue.SWEEP)
    assert not is_at_rest()
    OrmQ.objects.all().delete()
    assert is_at_rest()
