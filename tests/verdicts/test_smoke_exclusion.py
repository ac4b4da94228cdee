"""Smoke tests are excluded from statistics and review queues; orders of customers are not."""

import json

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from audit.divergence_rates import divergence_rates
from audit.models import CrosscheckLog, DayCount, DivergenceEvent, Escalation, LogEntry, ModelCall
from audit.variance import variance
from tests.support.stripe_objects import session_object
from verdicts.clients import stripe_account
from verdicts.core.sessions import read_session
from verdicts.models import CachedVerdict, Case, Delivery, Order, Status
from verdicts.monitoring.counters import collect_counters
from verdicts.monitoring.daily_stats import load_daily_stats, roll_up_open_days
from verdicts.monitoring.gauges import collect_gauges
from verdicts.payments.accept_payment import record_session
from verdicts.payments.checkout import start_checkout
from verdicts.results.read_counter import hits
from verdicts.review.cases import close_all
from verdicts.review.reviewed_outputs import reviewed_outputs
from verdicts.smoke_test.marking import mark_as_smoke

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

for_smoke_and_customer = pytest.mark.parametrize(
    "smoke", [True, False], ids=["smoke test", "customer"]
)
STAFF = "staff@oracle.example"
# Technical load: smoke tests count here.
TECHNICAL_METRICS = ("oracle_queue_", "oracle_log_")


@pytest.fixture
def process_orders(sandbox, bought, ask, run_jobs):
    """A verdict that is emailed, read and regenerated with another label, and a rejection."""

    def run(*, smoke: bool) -> Order:
        sandbox.fault("gemini", "verdict", label="GREEN")
        order = bought("full", smoke=smoke)
        run_jobs()
        ask(order.session_id)
        CachedVerdict.objects.filter(session_id=order.session_id).delete()
        sandbox.fault("gemini", "verdict", label="RED")
        ask(order.session_id)
        sandbox.fault("gemini", "contradictory")
        bought("full", "A rejected ferry?", smoke=smoke)
        run_jobs()
        hits.flush()
        roll_up_open_days()
        return order

    return run


COUNTED = (
    *("order", "cents", "original", "regen", "score", "flag", "original call", "regen call"),
    *("original latency", "original ms", "tokens", "divergence", "cause"),
    *(DayCount.HIT, DayCount.READ, DayCount.EMAIL),
)


@for_smoke_and_customer
def test_daily_statistics(process_orders, smoke):
    process_orders(smoke=smoke)
    found = load_daily_stats(1)
    assert {name: found.sum(name) > 0 for name in COUNTED} == dict.fromkeys(COUNTED, not smoke)
    if smoke:
        assert not DayCount.objects.exists()


@for_smoke_and_customer
def test_the_variance_that_escalates(process_orders, smoke):
    process_orders(smoke=smoke)
    assert variance(timezone.now()) == ((0, 0) if smoke else (1, 1))


@for_smoke_and_customer
def test_the_divergence_report(process_orders, smoke):
    process_orders(smoke=smoke)
    found = divergence_rates(days=1, tier="", now=timezone.now())
    assert found.total.compared == (0 if smoke else 1)
    assert bool(found.total.causes) is not smoke


@for_smoke_and_customer
def test_the_reviewed_outputs_for_calibration(process_orders, smoke):
    process_orders(smoke=smoke)
    who = User.objects.create(username="ada")
    close_all(Case.objects.all(), Case.Outcome.CORRECT, who=who, note="seen")
    assert len(list(reviewed_outputs())) == (0 if smoke else 1)


def samples() -> dict:
    return {
        (one.name, *one.labels.items()): one.value
        for family in (*collect_counters(), *collect_gauges())
        for one in family.samples
        if not one.name.startswith(TECHNICAL_METRICS)
    }


@for_smoke_and_customer
def test_every_metric_but_the_technical_ones(process_orders, smoke):
    before = samples()
    process_orders(smoke=smoke)
    after = samples()
    assert (before == after) is smoke
    assert len(after) > 100


@for_smoke_and_customer
def test_metrics_of_pending_orders_and_emails(bought, sandbox, run_jobs, smoke):
    before = samples()
    bought(smoke=smoke)
    assert (samples() == before) is smoke
    sandbox.fault("graph", "error", times=3)
    run_jobs()
    assert Delivery.objects.get().state == Delivery.State.PENDING
    assert (samples() == before) is smoke


@for_smoke_and_customer
def test_a_read_while_stripe_is_unavailable(ask, sandbox, smoke):
    session = start_checkout(account=stripe_account(), tier="quick", query="A ferry?")
    if smoke:
        mark_as_smoke(session.id, query="A ferry?", who="ada")
    sandbox.fault("stripe", "unauthorized")
    assert ask(session.id).status_code == 503
    hits.flush()
    assert load_daily_stats(1).sum(DayCount.READ, key="try-later") == (0 if smoke else 1)


@for_smoke_and_customer
def test_a_read_of_a_session_that_stripe_does_not_know(ask, sandbox, smoke):
    session = start_checkout(account=stripe_account(), tier="quick", query="A ferry?")
    if smoke:
        mark_as_smoke(session.id, query="A ferry?", who="ada")
    sandbox.reset()
    assert ask(session.id).status_code == 404
    hits.flush()
    assert load_daily_stats(1).sum(DayCount.READ, key="unknown") == (0 if smoke else 1)


def test_reads_of_a_smoke_test_are_counted_on_its_order(process_orders, ask):
    order = process_orders(smoke=True)
    ask(order.session_id)
    hits.flush()
    order.refresh_from_db()
    assert (order.hits, order.last_read_at is None) == (2, False)


@for_smoke_and_customer
def test_a_rejection_alerts_no_staff(process_orders, sandbox, smoke):
    process_orders(smoke=smoke)
    assert Case.objects.exists() is not smoke
    assert bool(sandbox.messages(to=STAFF)) is not smoke
    # The buyer is notified in either case.
    assert any("held back" in one["subject"] for one in sandbox.messages(to="buyer@example.com"))


@for_smoke_and_customer
def test_a_held_payment_alerts_no_staff(sandbox, run_jobs, smoke):
    session = start_checkout(account=stripe_account(), tier="full", query="A ferry?")
    if smoke:
        mark_as_smoke(session.id, query="A ferry?", who="ada")
    record_session(read_session(session_object(id=session.id, amount_subtotal=1)))
    run_jobs()
    assert Order.objects.get().status == Status.HELD
    assert Case.objects.exists() is not smoke
    assert bool(sandbox.messages(to=STAFF)) is not smoke


@for_smoke_and_customer
def test_a_failed_email_alerts_no_staff(bought, sandbox, run_jobs, smoke):
    sandbox.fault("graph", "error", times=8, match="buyer@example.com")
    sandbox.fault("graph", "error", times=None, match="Your Oracle verdict")
    bought("quick", smoke=smoke)
    run_jobs(now=True)
    assert Delivery.objects.filter(state=Delivery.State.FAILED).exists()
    assert Case.objects.exists() is not smoke
    assert Delivery.objects.filter(kind=Delivery.Kind.STAFF).exists() is not smoke


@for_smoke_and_customer
def test_a_rejected_regeneration_alerts_no_staff(bought, sandbox, ask, run_jobs, smoke):
    order = bought("full", smoke=smoke)
    run_jobs()
    CachedVerdict.objects.all().delete()
    sandbox.fault("gemini", "contradictory")
    assert ask(order.session_id).status_code == 422
    assert Case.objects.exists() is not smoke


def test_a_retired_model_is_reported_even_if_a_smoke_test_found_it(bought, sandbox, run_jobs):
    sandbox.fault("gemini", "not_found")
    bought("quick", smoke=True)
    sandbox.fault("graph", "error", times=3)
    run_jobs()
    waiting = ("oracle_emails_not_sent", ("kind", "retired"), ("state", "pending"))
    assert samples()[waiting] == 1
    run_jobs(now=True)
    assert len(sandbox.messages(to=STAFF)) == 1
    assert load_daily_stats(1).sum(DayCount.EMAIL, key="retired sent") == 1


def test_a_smoke_test_causes_no_escalation(process_orders):
    for number in range(20):
        check = CrosscheckLog.objects.create(
            session_id=f"cs_{number}", kind="regen", tier="full", approved=True, threshold=0.5
        )
        DivergenceEvent.objects.create(
            crosscheck=check,
            session_id=check.session_id,
            tier="full",
            level="minor",
            skipped=False,
            same_inputs=True,
            causes=["infrastructure"],
            latency_ms=1,
        )
    process_orders(smoke=True)
    assert not Escalation.objects.exists()
    process_orders(smoke=False)
    assert Escalation.objects.exists()


@for_smoke_and_customer
def test_every_row_and_log_line_of_a_smoke_test_is_marked(process_orders, smoke):
    order = process_orders(smoke=smoke)
    for model in (ModelCall, CrosscheckLog, DivergenceEvent):
        rows = model.objects.filter(session_id=order.session_id)
        assert set(rows.values_list("smoke", flat=True)) == {smoke}
    lines = [json.loads(row.entry) for row in LogEntry.objects.all()]
    entries = [line for line in lines if line["event"] != "staff_action"]
    assert {line["event"] for line in entries} == {"tmm_crosscheck", "regen_divergence_check"}
    assert [line.get("smoke", False) for line in entries] == [smoke] * len(entries)
    if smoke:
        # After the keys that the specification requires.
        assert all(list(line)[-1] == "smoke" for line in entries)
