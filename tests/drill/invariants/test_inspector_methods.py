"""While it waits, the drill moves due times and queues sweeps; the work is left to the site."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from drill.invariants.inspector_methods import evicted_pages, is_idle, skip_pause
from verdicts.jobs import queue
from verdicts.models import Order
from verdicts.reconciliation.sweep import OVERDUE_AFTER

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
        due_at=timezone.now() - OVERDUE_AFTER - timedelta(seconds=1),
    )


def jobs() -> list[str]:
    return [row.task["name"] for row in OrmQ.objects.order_by("pk")]


def test_overdue_work_is_left_to_the_sites_own_workers(order):
    assert skip_pause() == 0
    assert jobs() == [queue.SWEEP]  # which then queues the order's job


def test_while_a_job_can_be_taken_no_sweep_is_queued_and_no_pause_skipped(order):
    queue.enqueue(queue.DELIVER, 1)
    assert skip_pause() == 0
    assert jobs() == [queue.DELIVER]


def test_where_nothing_is_overdue_due_times_are_moved_until_something_is(order):
    Order.objects.update(due_at=timezone.now() + timedelta(hours=1))
    skipped = skip_pause()
    assert skipped >= 3600 + OVERDUE_AFTER.total_seconds()
    assert jobs() == []
    assert skip_pause() == 0
    assert jobs() == [queue.SWEEP]


def test_a_page_without_a_cached_verdict_is_evicted(order):
    assert evicted_pages(["cs_test_drilled"]) == ["cs_test_drilled"]
    assert evicted_pages([]) == []


def test_a_site_is_idle_once_its_own_sweep_is_done():
    assert not is_idle()
    Schedule.objects.filter(name="sweep").update(task="a")
    queue.enqueue(queue.SWEEP)
    assert not is_idle()
    OrmQ.objects.all().delete()
    assert is_idle()
