"""Any number of looks at once, beside webhooks: one order, one job, one mark."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connections
from django.utils import timezone
from django_q.models import OrmQ

from audit.models import DayCount
from tests.support.reconciliation import discrepancies, look
from verdicts.clients import stripe_account
from verdicts.models import CachedVerdict, Order, Reconciled
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.reconciliation.reconcile import last_look, reconcile

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*works) -> None:
    """All of them, each with a connection of its own."""
    ready = Barrier(len(works))

    def run(work) -> None:
        try:
            ready.wait()
            work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        list(pool.map(run, works))


def test_a_webhook_that_comes_at_the_same_moment_buys_no_second_verdict(
    sandbox, elsewhere, run_jobs
):
    for number in range(5):
        session_id = elsewhere(180)
        raw = retrieve_session(stripe_account(), session_id)
        event = Event(f"evt_{number}", "checkout.session.completed", raw)
        at_once(
            lambda: look(apply=True),
            lambda event=event: receive(event),
            lambda: look(apply=True),
        )
    assert Order.objects.filter(status="paid").count() == Order.objects.count() == 5
    jobs = [row.task["args"] for row in OrmQ.objects.filter(key="generate")]
    assert sorted(jobs) == sorted((order.pk,) for order in Order.objects.all())
    run_jobs()
    assert len(sandbox.messages()) == 5


def test_two_looks_at_once_open_one_case_and_queue_one_job(sandbox, paid_order):
    paid_order()
    rejected = paid_order()
    Order.objects.filter(pk=rejected.pk).update(status="rejected", due_at=None)
    long_ago = timezone.now() - timedelta(minutes=6)
    Order.objects.exclude(pk=rejected.pk).update(due_at=long_ago)
    OrmQ.objects.all().delete()
    at_once(lambda: look(apply=True), lambda: look(apply=True), lambda: look(apply=True))
    assert rejected.cases.count() == 1
    assert OrmQ.objects.filter(key="generate").count() == 1
    assert discrepancies(look()) == []


def test_what_is_mended_is_counted_by_kind(sandbox, elsewhere):
    elsewhere(180)
    elsewhere(180, amount_subtotal=100)
    look()
    look(apply=True)
    look(apply=True)
    assert list(DayCount.objects.filter(name="gap").values_list("key", "count")) == [
        ("missed webhook", 1)
    ]


def test_stripe_out_of_reach_is_said_and_the_rest_is_looked_at(sandbox, delivered):
    delivered()
    CachedVerdict.objects.update(body="x")
    sandbox.fault("stripe", "unavailable", times=None)
    report = look(apply=True)
    assert report.unreachable.startswith("Stripe is unreachable")
    assert report.unfinished
    assert [kind for kind, _ in discrepancies(report)] == ["cache"]
    assert last_look() is None


def test_a_look_without_time_is_unfinished_and_not_stripes_fault(sandbox, elsewhere):
    elsewhere(180)
    account, since = stripe_account(), timezone.now() - timedelta(days=4)
    report = reconcile(account=account, since=since, apply=True, seconds=0)
    assert (report.unfinished, report.unreachable) == (True, "")
    assert last_look() is None


def test_only_a_look_that_leaves_nothing_unseen_moves_the_mark(sandbox):
    look(days=5)  # nothing was mended
    assert last_look() is None
    look(apply=True, hours=30)
    assert last_look() is None
    look(apply=True, days=5)
    first = last_look()
    assert first
    look(apply=True, hours=1)
    assert last_look() == first
    look(apply=True, hours=26)
    assert last_look() > first
    Reconciled.objects.update(looked_at=timezone.now() - timedelta(days=9))
    look(apply=True, days=9)
    assert last_look() < timezone.now() - timedelta(days=8)
    look(apply=True, days=11)
    assert last_look() > first
