import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import CrosscheckLog, DayCount, DivergenceEvent
from verdicts.monitoring.daily_stats import load_daily_stats, roll_up, roll_up_open_days

pytestmark = pytest.mark.django_db


@pytest.fixture
def busy_day(ask, sandbox, paid_order, missed, run_jobs) -> None:
    """A verdict, a regeneration that diverged, and a rejected output."""
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    sandbox.fault("gemini", "contradictory")
    paid_order("full")
    paid_order("quick")
    run_jobs()


def test_rows_are_counted_by_tier_and_key(busy_day):
    roll_up_open_days()
    found = load_daily_stats(7)
    assert found.sum("order") == 3
    assert found.sum("order", tier="quick") == 1
    assert found.sum("order", key="rejected") == 1
    assert found.sum("cents") == 500 + 500 + 200
    assert found.by_key("original")["pass"] == 2
    assert found.sum("regen", key="pass") == 1
    assert found.sum("divergence", key="significant") == 1
    assert found.by_key("cause") == {"infrastructure": 1}
    assert found.sum("regen call", key="answered") == 1
    assert found.sum("original latency") == 3
    assert found.sum("regen latency") == 1
    assert found.sum("tokens", key="prompt") > 0
    assert found.by_key("flag")["dimension_conflict"] == 1
    assert found.sum("score") == CrosscheckLog.objects.count()
    assert found.series("order") == [0] * 6 + [3]
    assert (found.variance.checked, found.variance.diverged) == (1, 1)


def test_a_repeated_roll_up_changes_only_what_has_changed(busy_day):
    roll_up_open_days()
    before = list(DayCount.objects.order_by("name", "tier", "key").values_list("name", "count"))
    roll_up_open_days()
    after = list(DayCount.objects.order_by("name", "tier", "key").values_list("name", "count"))
    assert before == after
    DivergenceEvent.objects.all().delete()
    roll_up_open_days()
    assert load_daily_stats(1).sum("divergence") == 0


def test_a_roll_up_keeps_what_is_counted_as_it_happens(busy_day):
    today = timezone.now().date()
    before = DayCount.objects.filter(name__in=DayCount.LIVE_COUNTS).count()
    DayCount.objects.create(day=today, name="hit", count=7)
    roll_up(today)
    assert load_daily_stats(1).sum("hit") == 7
    assert DayCount.objects.filter(name__in=DayCount.LIVE_COUNTS).count() == before + 1


def test_a_roll_up_of_open_days_keeps_the_others(busy_day):
    roll_up_open_days()
    past = timezone.now() - timedelta(days=3)
    DayCount.objects.create(day=past.date(), name="order", tier="full", key="delivered", count=5)
    roll_up_open_days()
    found = load_daily_stats(7)
    assert found.series("order", tier="full") == [0, 0, 0, 5, 0, 0, 2]
    assert load_daily_stats(2).sum("order", tier="full") == 2


def test_days_that_the_sweep_missed_are_rolled_up_later(paid_order):
    order = paid_order("full")
    for back in (1, 3):
        order.pk, order.token, order.session_id = None, uuid4(), f"cs_test_missedDay{back:04}"
        order.paid_at = timezone.now() - timedelta(days=back)
        order.save(force_insert=True)
    roll_up_open_days()
    assert load_daily_stats(5).series("order") == [0, 1, 0, 1, 1]


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_roll_ups_the_later_one_wins(paid_order):
    """Prometheus takes a counter that falls for a restart."""
    paid_order("full")
    today = timezone.now().date()
    counted, overtaken = threading.Event(), threading.Event()

    def pause(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if "audit_divergenceevent" in sql and not counted.is_set():  # counted after the orders
            counted.set()
            overtaken.wait(1)  # times out if the other transaction waits for this one
        return result

    def count_slowly():
        with connection.execute_wrapper(pause):
            roll_up(today)
        connection.close()

    def order_and_count():
        counted.wait(10)
        paid_order("full")
        roll_up(today)
        overtaken.set()
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(count_slowly), pool.submit(order_and_count)]:
            done.result()
    assert load_daily_stats(1).sum("order") == 2
