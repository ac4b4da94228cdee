"""Concurrent runs and webhooks: one order, one job, one completed run recorded."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connections
from django.utils import timezone
from django_q.models import OrmQ

from audit.models import DayCount
from tests.support.reconciliation import discrepancies, run_reconcile
from verdicts.clients import stripe_account
from verdicts.models import CachedVerdict, Order, Reconciled
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.reconciliation.reconcile import last_completed, reconcile

pytestmark = pytest.mark.django_db(transaction=True)


def concurrently(*functions) -> None:
    """Run all of them in threads, each with its own database connection."""
    ready = Barrier(len(functions))

    def run(function) -> None:
        try:
            ready.wait()
            function()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(functions)) as pool:
        list(pool.map(run, functions))


def test_a_webhook_during_a_repair_causes_no_second_verdict(sandbox, elsewhere, run_jobs):
    for number in range(5):
        session_id = elsewhere(180)
        raw = retrieve_session(stripe_account(), session_id)
        event = Event(f"evt_{number}", "checkout.session.completed", raw)
        concurrently(
            lambda: run_reconcile(apply=True),
            lambda event=event: receive(event),
            lambda: run_reconcile(apply=True),
        )
    assert Order.objects.filter(status="paid").count() == Order.objects.count() == 5
    jobs = [row.task["args"] for row in OrmQ.objects.filter(key="generate")]
    assert sorted(jobs) == sorted((order.pk,) for order in Order.objects.all())
    run_jobs()
    assert len(sandbox.messages()) == 5


def test_concurrent_runs_open_one_case_and_queue_one_job(sandbox, paid_order):
    paid_order()
    rejected = paid_order()
    Order.objects.filter(pk=rejected.pk).update(status="rejected", due_at=None)
    long_ago = timezone.now() - timedelta(minutes=6)
    Order.objects.exclude(pk=rejected.pk).update(due_at=long_ago)
    OrmQ.objects.all().delete()
    concurrently(*[lambda: run_reconcile(apply=True)] * 3)
    assert rejected.cases.count() == 1
    assert OrmQ.objects.filter(key="generate").count() == 1
    assert discrepancies(run_reconcile()) == []


def test_repairs_are_counted_by_kind(sandbox, elsewhere):
    elsewhere(180)
    elsewhere(180, amount_subtotal=100)
    run_reconcile()
    run_reconcile(apply=True)
    run_reconcile(apply=True)
    assert list(DayCount.objects.filter(name="gap").values_list("key", "count")) == [
        ("missed webhook", 1)
    ]


def test_without_stripe_the_other_checks_still_run(sandbox, delivered):
    delivered()
    CachedVerdict.objects.update(body="x")
    sandbox.fault("stripe", "unavailable", times=None)
    report = run_reconcile(apply=True)
    assert report.stripe_error.startswith("Stripe is unreachable")
    assert report.is_incomplete
    assert [kind for kind, _ in discrepancies(report)] == ["cache"]
    assert last_completed() is None


def test_a_run_beyond_its_time_limit_is_incomplete_without_a_stripe_error(sandbox, elsewhere):
    elsewhere(180)
    account, since = stripe_account(), timezone.now() - timedelta(days=4)
    report = reconcile(account=account, since=since, apply=True, time_limit=0)
    assert (report.is_incomplete, report.stripe_error) == (True, "")
    assert last_completed() is None


def test_only_a_run_that_covers_the_whole_period_is_recorded_as_completed(sandbox):
    run_reconcile(days=5)  # without --apply
    assert last_completed() is None
    run_reconcile(apply=True, hours=30)
    assert last_completed() is None
    run_reconcile(apply=True, days=5)
    first = last_completed()
    assert first
    run_reconcile(apply=True, hours=1)
    assert last_completed() == first
    run_reconcile(apply=True, hours=26)
    assert last_completed() > first
    Reconciled.objects.update(looked_at=timezone.now() - timedelta(days=9))
    run_reconcile(apply=True, days=9)
    assert last_completed() < timezone.now() - timedelta(days=8)
    run_reconcile(apply=True, days=11)
    assert last_completed() > first
