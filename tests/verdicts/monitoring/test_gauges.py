from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from tests.support.comparisons import add_comparisons
from verdicts.jobs import queue
from verdicts.models import QueueHeartbeat

pytestmark = pytest.mark.django_db


def test_jobs_are_counted_by_queue_and_state(value):
    queue.enqueue(queue.FULFIL, 1)
    queue.enqueue(queue.FULFIL, 2)
    queue.enqueue(queue.DELIVER, 1, delay=60)
    oldest = OrmQ.objects.order_by("pk").first()
    OrmQ.objects.filter(pk=oldest.pk).update(lock=timezone.now() - timedelta(seconds=90))
    assert value("queue_jobs", queue="generate", state="due") == 2
    assert value("queue_jobs", queue="generate", state="later") == 0
    assert value("queue_jobs", queue="post", state="later") == 1
    assert 90 <= value("queue_oldest_due_seconds", queue="generate") < 120
    assert value("queue_oldest_due_seconds", queue="post") == 0


def test_the_time_of_the_last_taken_job(value):
    assert value("queue_last_taken_timestamp_seconds", queue="post") is None
    QueueHeartbeat.beat("post")
    taken = value("queue_last_taken_timestamp_seconds", queue="post")
    assert taken == pytest.approx(timezone.now().timestamp(), abs=30)


def test_unfinished_orders_and_open_cases_are_counted(value, sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "contradictory")
    paid_order("full")
    assert value("orders_unfinished", status="paid") == 1
    run_jobs()
    assert value("orders_unfinished", status="paid") == 0
    assert value("cases_open", kind="rejected") == 1
    assert value("cases_open", kind="failed") == 0
    assert value("stripe_events_unprocessed") == 0


def test_waiting_emails_are_counted(value, sandbox, paid_order, run_jobs):
    sandbox.fault("graph", "error", times=3)
    paid_order("full")
    run_jobs()
    assert value("emails_not_sent", kind="verdict", state="pending") == 1


def test_the_variance_rate_and_its_escalation(value):
    assert value("escalated") == 0
    add_comparisons(18)
    add_comparisons(2, "significant")
    assert value("variance_rate") == pytest.approx(0.1)
    assert value("variance_checked") == 20
    assert value("escalated") == 1
