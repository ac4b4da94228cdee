from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from audit.core.crosscheck import crosscheck
from audit.models import CrosscheckLog, LogEntry, ModelCall
from verdicts.clients import ask_model
from verdicts.core.errors import ModelBusy
from verdicts.generation.fulfil import MAX_ATTEMPTS, fulfil
from verdicts.generation.generate import Judged
from verdicts.models import CachedVerdict, Delivery, Order, Status, Verdict
from verdicts.privacy.erase import erase
from verdicts.reconciliation.sweep import requeue_order, sweep
from verdicts.tasks import fulfil_order

pytestmark = pytest.mark.django_db
TIERS = ["quick", "full", "strategy"]
REJECTED_FAULTS = [
    "malformed",
    "truncated",
    "contradictory",
    "missing_field",
    "empty",
    "blocked",
    "max_tokens",
    "safety",
    "recitation",
]
TRANSIENT_FAULTS = ["error", "unavailable", "hang_up", "broken_body", "bad_key"]


def left(order: Order) -> list[str]:
    """The kinds of the order's emails."""
    return sorted(order.deliveries.values_list("kind", flat=True))


@pytest.mark.parametrize("tier", TIERS)
def test_an_approved_verdict_is_stored_cached_emailed_and_logged(sandbox, paid_order, tier):
    order = paid_order(tier)
    fulfil_order(order.pk)
    order.refresh_from_db()
    verdict = Verdict.objects.get()
    check = CrosscheckLog.objects.get()
    call = ModelCall.objects.get()
    assert order.status == Status.DELIVERED
    assert (verdict.kind, verdict.label) == ("original", check.verdict_label)
    assert (verdict.crosscheck, verdict.call, check.call) == (check, call, call)
    assert check.approved
    assert check.evidence == ""
    assert CachedVerdict.objects.get().verdict == verdict
    assert left(order) == [Delivery.Kind.VERDICT]
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize("fault", REJECTED_FAULTS)
def test_a_rejected_output_goes_to_staff_review_only(sandbox, paid_order, fault):
    sandbox.fault("gemini", fault)
    order = paid_order("strategy")
    fulfil_order(order.pk)
    order.refresh_from_db()
    check = CrosscheckLog.objects.get()
    assert order.status == Status.REJECTED
    assert order.reason == check.crosscheck_reason
    assert not check.approved
    assert not Verdict.objects.exists()
    assert not CachedVerdict.objects.exists()
    assert left(order) == [Delivery.Kind.HELD_BACK, Delivery.Kind.STAFF]
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("fault", "finish", "block"),
    [
        ("max_tokens", "MAX_TOKENS", ""),
        ("safety", "SAFETY", ""),
        ("blocked", "", "PROHIBITED_CONTENT"),
    ],
)
def test_the_model_call_records_the_finish_reason(sandbox, paid_order, fault, finish, block):
    sandbox.fault("gemini", fault)
    fulfil_order(paid_order().pk)
    call = ModelCall.objects.get()
    assert (call.outcome, call.finish_reason) == (ModelCall.Outcome.ANSWERED, finish)
    assert bool(call.block_reason) == bool(block)


@pytest.mark.slow
@pytest.mark.parametrize("fault", TRANSIENT_FAULTS)
def test_a_temporary_error_is_retried_later(sandbox, paid_order, run_jobs, fault):
    sandbox.fault("gemini", fault, times=3)  # the client itself tries three times
    order = paid_order()
    fulfil_order(order.pk)
    order.refresh_from_db()
    if fault in ("broken_body", "bad_key"):  # not retried by the client
        sandbox.clear_faults()
    assert (order.status, order.attempts) == (Status.PAID, 1)
    assert ModelCall.objects.get().outcome == ModelCall.Outcome.BUSY
    assert OrmQ.objects.filter(lock__gt=timezone.now()).count() == 1
    OrmQ.objects.filter(lock__lte=timezone.now()).delete()
    run_jobs(now=True)
    order.refresh_from_db()
    assert order.status == Status.DELIVERED
    assert Verdict.objects.count() == 1


def test_a_job_that_runs_early_costs_no_attempt(sandbox, paid_order, run_jobs):
    """Its worker died after rescheduling the order, so the job is dequeued again."""
    sandbox.fault("gemini", "bad_key")
    order = paid_order()
    Order.objects.update(attempts=3)
    for _ in range(MAX_ATTEMPTS):
        fulfil_order(order.pk)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.PAID, 4)
    run_jobs(now=True)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.DELIVERED, 5)


def test_a_slightly_slow_clock_loses_no_job(sandbox, paid_order):
    order = paid_order()
    Order.objects.update(due_at=timezone.now() + timedelta(seconds=3))
    fulfil_order(order.pk)
    assert Order.objects.get().status == Status.DELIVERED


@pytest.mark.slow
def test_an_exhausted_quota_costs_neither_an_attempt_nor_the_place_in_the_queue(
    sandbox, paid_order
):
    sandbox.fault("gemini", "rate_limited", times=3)
    order = paid_order()
    fulfil_order(order.pk)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.DELIVERED, 1)
    assert ModelCall.objects.count() == 1


def test_one_fault_is_retried_inside_the_call(sandbox, paid_order):
    sandbox.fault("gemini", "unavailable", times=1)
    order = paid_order()
    fulfil_order(order.pk)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.DELIVERED, 1)
    assert len(sandbox.requests("gemini")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["dribble", "slow"])
def test_a_call_ends_at_its_deadline_whatever_the_server_does(sandbox, paid_order, settings, fault):
    settings.ORACLE_MODEL_DEADLINE = 1
    sandbox.fault("gemini", fault, seconds=30 if fault == "slow" else 0.05)
    order = paid_order()
    fulfil_order(order.pk)
    call = ModelCall.objects.get()
    assert call.outcome == ModelCall.Outcome.BUSY
    assert call.error == "no answer within 1 s"
    assert call.duration_ms < 5_000


def test_after_the_last_attempt_the_order_fails_and_staff_are_told(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "bad_key", times=None)
    order = paid_order()
    run_jobs(now=True)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.FAILED, MAX_ATTEMPTS)
    assert ModelCall.objects.count() == MAX_ATTEMPTS
    assert left(order) == [Delivery.Kind.HELD_BACK, Delivery.Kind.STAFF]


def test_a_request_that_the_model_refuses_fails_without_retry(sandbox, paid_order):
    sandbox.fault("gemini", "bad_request")
    order = paid_order()
    fulfil_order(order.pk)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.FAILED, 1)
    assert left(order) == [Delivery.Kind.HELD_BACK, Delivery.Kind.STAFF]


def test_an_attempt_counts_before_the_call_even_if_the_worker_dies_in_it(paid_order):
    order = paid_order()

    class Killed(BaseException):
        pass

    def die(request):
        raise Killed

    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(Killed):
            fulfil(order.pk, model="gemini-2.5-flash", ask=die)
        assert fulfil(order.pk, model="gemini-2.5-flash", ask=die) is None  # still claimed
        Order.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    fulfil(order.pk, model="gemini-2.5-flash", ask=die)
    order.refresh_from_db()
    assert (order.status, order.attempts) == (Status.FAILED, MAX_ATTEMPTS)
    assert ModelCall.objects.filter(outcome=ModelCall.Outcome.CRASHED).count() == MAX_ATTEMPTS


def test_a_finished_order_is_not_generated_again(sandbox, paid_order):
    order = paid_order()
    fulfil_order(order.pk)
    fulfil_order(order.pk)
    assert ModelCall.objects.count() == Verdict.objects.count() == 1


def test_a_worker_that_lost_its_claim_only_logs_its_answer(sandbox, paid_order):
    order = paid_order()

    def too_late(request):
        Order.objects.filter(pk=order.pk).update(due_at=timezone.now() - timedelta(seconds=1))
        fulfil_order(order.pk)  # another worker takes over and finishes
        return ask_model(request)

    assert fulfil(order.pk, model="gemini-2.5-flash", ask=too_late) is None
    assert Verdict.objects.count() == 1
    assert order.deliveries.count() == 1
    assert CrosscheckLog.objects.count() == LogEntry.objects.count() == 2


def test_a_retired_model_keeps_orders_paid_and_alerts_operators_once(
    sandbox, paid_order, run_jobs, settings
):
    sandbox.fault("gemini", "not_found", times=None)
    orders = [paid_order(query=f"Idea {n}") for n in range(2)]
    run_jobs()
    assert {o.status for o in Order.objects.all()} == {Status.PAID}
    assert {o.attempts for o in Order.objects.all()} == {0}
    assert Delivery.objects.filter(kind=Delivery.Kind.RETIRED).count() == 1
    (told,) = [m for m in sandbox.messages() if "no longer answers" in m["subject"]]
    assert "gemini-2.5-flash no longer answers" in told["text"]
    assert sweep()["orders"] == 0  # still the same model
    sandbox.clear_faults()
    settings.ORACLE_MODEL = "gemini-2.5-pro"
    assert sweep()["orders"] == len(orders)
    run_jobs()
    assert {o.status for o in Order.objects.all()} == {Status.DELIVERED}


def test_a_retired_model_is_retried_later(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "not_found", times=1)
    paid_order()
    run_jobs()
    Order.objects.update(due_at=timezone.now() - timedelta(minutes=6))  # an hour has passed
    assert sweep()["orders"] == 1
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED


def refund_meanwhile(order: Order, then):
    """A model call during which the order is refunded."""

    def ask(request):
        Order.objects.filter(pk=order.pk).update(refunded_at=timezone.now())
        return then(request)

    return ask


def refuse_for_now(request):
    raise ModelBusy("try later")


@pytest.mark.parametrize("then", [ask_model, refuse_for_now], ids=["answered", "busy"])
def test_an_order_refunded_during_the_call_gets_no_verdict(sandbox, paid_order, run_jobs, then):
    order = paid_order()
    fulfil(order.pk, model="gemini-2.5-flash", ask=refund_meanwhile(order, then))
    run_jobs(now=True)
    order.refresh_from_db()
    assert (order.status, order.reason) == (Status.FAILED, "refunded before it was judged")
    assert not Verdict.objects.exists()
    assert left(order) == []


def test_a_refunded_order_gets_no_held_back_email(sandbox, paid_order):
    sandbox.fault("gemini", "contradictory")
    order = paid_order()
    fulfil(order.pk, model="gemini-2.5-flash", ask=refund_meanwhile(order, ask_model))
    assert left(order) == []


def test_the_sweep_leaves_a_leased_order_to_its_worker(sandbox, paid_order, monkeypatch):
    order = paid_order()
    Order.objects.update(due_at=timezone.now() - timedelta(minutes=6))
    found = list(Order.objects.all())

    def ask(request):
        steal(found)
        return ask_model(request)

    fulfil(order.pk, model="gemini-2.5-flash", ask=ask)
    assert Verdict.objects.count() == ModelCall.objects.count() == 1


def steal(found: list[Order]) -> None:
    """The rest of a sweep that listed the order before a worker claimed it."""
    assert [requeue_order(order) for order in found] == [False]
    assert fulfil(found[0].pk, model="gemini-2.5-flash", ask=ask_model) is None


def deliver_and_erase_meanwhile(order: Order, sandbox, run_jobs, then):
    """The worker stalls past its lease: another delivers, and the customer is erased."""

    def ask(request):
        Order.objects.filter(pk=order.pk).update(due_at=timezone.now() - timedelta(seconds=1))
        fulfil(order.pk, model="gemini-2.5-flash", ask=ask_model)
        run_jobs()
        erase(order, who="ada", reason="asked")
        sandbox.fault("gemini", "contradictory")
        return then(request)

    return ask


@pytest.mark.parametrize("then", [ask_model, refuse_for_now], ids=["answered", "busy"])
def test_a_late_answer_restores_no_erased_text(sandbox, paid_order, run_jobs, then):
    order = paid_order(query="My secret plan?")
    late = deliver_and_erase_meanwhile(order, sandbox, run_jobs, then)
    fulfil(order.pk, model="gemini-2.5-flash", ask=late)
    order.refresh_from_db()
    assert order.status == Status.ERASED
    assert not any("secret" in row.entry for row in LogEntry.objects.all())
    assert not CrosscheckLog.objects.exclude(evidence="").exists()
    calls = ModelCall.objects.all()
    assert len(calls) == 2
    assert [(one.prompt_sha256, "seed" in one.asked, "seed" in one.sent) for one in calls] == [
        ("", False, False)
    ] * 2


def test_only_what_the_gate_approved_can_be_stored(paid_order):
    judged = Judged(paid_order("quick"), "original", None, "{}", crosscheck("{}", "quick"))
    with pytest.raises(ValueError, match="only what the gate approved"):
        judged.store(None)


def test_the_sweep_requeues_orders_whose_lease_expired(sandbox, paid_order, run_jobs):
    order = paid_order()
    OrmQ.objects.all().delete()  # the job is lost, as after a change of the signing key
    assert sweep()["orders"] == 0
    Order.objects.update(due_at=timezone.now() - timedelta(minutes=6))
    assert sweep()["orders"] == 1
    assert sweep()["orders"] == 0
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED


def test_the_sweep_requeues_orders_without_a_due_date(sandbox, paid_order, run_jobs):
    order = paid_order()
    OrmQ.objects.all().delete()
    Order.objects.update(due_at=None)
    assert (sweep()["orders"], sweep()["orders"]) == (1, 0)
    run_jobs()
    OrmQ.objects.all().delete()
    order.deliveries.update(state="pending", due_at=None)
    assert (sweep()["deliveries"], sweep()["deliveries"]) == (1, 0)
