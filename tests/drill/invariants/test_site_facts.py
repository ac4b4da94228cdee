"""The collected facts match the database, pickled columns included."""

from uuid import uuid4

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task
from django_q.tasks import async_task

from audit.actions import record_action
from audit.log import log
from audit.models import Action, CrosscheckLog, DivergenceEvent, LogEntry, ModelCall
from drill.faults.disk import FullDevice
from drill.invariants.site_facts import site_facts
from verdicts.jobs.queue import DelayingBroker
from verdicts.models import Order, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CANARY = "canary-7-00001"
SESSION = "cs_test_drilled"


@pytest.fixture
def order() -> Order:
    return Order.objects.create(
        tier="quick",
        query="[order 00001] A ferry?",
        status="delivered",
        session_id=SESSION,
        price_cents=500,
        currency="usd",
    )


def regenerated(order: Order, label: str) -> Verdict:
    check = CrosscheckLog.objects.create(
        session_id=SESSION,
        kind="regen",
        tier="quick",
        approved=True,
        threshold=0.5,
        verdict_label=label,
        crosscheck_reason="approved",
    )
    return Verdict.objects.create(
        order=order, kind="regen", label=label, payload={}, crosscheck=check
    )


def compare(regen: Verdict, level: str) -> None:
    DivergenceEvent.objects.create(
        crosscheck=regen.crosscheck,
        session_id=SESSION,
        tier="quick",
        original_verdict="GREEN",
        original_source="verdict",
        regen_verdict=regen.label,
        level=level,
        skipped=False,
        causes=["infrastructure"],
        same_inputs=True,
        latency_ms=1,
    )


def order_facts() -> dict:
    [found] = site_facts(CANARY)["orders"]
    return found


def test_a_regeneration_without_a_comparison_on_record_is_uncompared(order):
    regen = regenerated(order, "RED")  # neither due for comparison nor compared
    assert order_facts()["uncompared"] == 1
    compare(regen, "significant")
    assert order_facts()["uncompared"] == 0


def test_a_repeated_contradiction_counts_once(order):
    for label, level in [("RED", "significant"), ("RED", "significant"), ("AMBER", "minor")]:
        compare(regenerated(order, label), level)
    assert order_facts()["contradictions"] == 1
    compare(regenerated(order, "NULL"), "significant")
    assert order_facts()["contradictions"] == 2


@pytest.mark.parametrize(
    "stored",
    [
        {"args": (f"a {CANARY}",)},
        {"kwargs": {"text": [f"a {CANARY}"]}},
        {"result": f"Traceback: {CANARY}"},
    ],
    ids=lambda stored: next(iter(stored)),
)
def test_rejected_text_in_a_pickled_column_of_the_queue_is_found(stored):
    now = timezone.now()
    Task.objects.create(id=uuid4().hex, name="a", func="a", started=now, stopped=now, **stored)
    assert site_facts(CANARY)["leaks"] == [f"Task.{next(iter(stored))}"]


def test_rejected_text_in_a_queued_job_is_found():
    async_task("verdicts.tasks.deliver", f"a {CANARY}", broker=DelayingBroker("post"))
    assert OrmQ.objects.filter(payload__contains=CANARY).count() == 0
    assert site_facts(CANARY)["leaks"] == ["OrmQ.payload"]


def act(reason: str) -> None:
    record_action(session_id=SESSION, action="evict", who="drill", reason=reason)


def unmatched() -> list[str]:
    return site_facts(CANARY)["log"]["unmatched"]


@pytest.mark.django_db(transaction=True)
def test_a_log_with_one_line_for_each_row_is_complete():
    act("one")
    act("two")
    act("two")
    assert unmatched() == []


@pytest.mark.django_db(transaction=True)
def test_a_missing_entry_and_a_duplicate_one_do_not_cancel_out():
    act("one")
    act("two")
    Action.objects.filter(reason="one").update(reason="two")
    about = f"staff_action ('{SESSION}', 'evict', 'drill'"
    assert unmatched() == [
        f"{about}, 'one'): 1 entries for 0 rows",
        f"{about}, 'two'): 1 entries for 2 rows",
    ]


@pytest.mark.django_db(transaction=True)
def test_a_missing_line_and_a_duplicate_one_do_not_cancel_out(settings):
    act("one")
    act("two")
    first, second = settings.ORACLE_LOG_PATH.read_text().splitlines(keepends=True)
    settings.ORACLE_LOG_PATH.write_text(first + first)
    ids = LogEntry.objects.order_by("pk").values_list("public_id", flat=True)
    assert [first.count(ids[0]), second.count(ids[1])] == [1, 1]
    assert sorted(unmatched()) == sorted(
        [f"entry {ids[0]} has 2 lines", f"entry {ids[1]} has 0 lines"]
    )


@pytest.mark.django_db(transaction=True)
def test_a_pending_line_is_counted_for_each_failed_write(settings):
    disk = FullDevice(settings.ORACLE_LOG_PATH)
    disk.fill()
    act("one")
    log.flush()
    disk.free()
    log.flush()
    assert site_facts(CANARY)["log"]["failed_writes"] == 2


def test_only_a_sweep_of_the_schedule_counts():
    assert site_facts(CANARY)["swept"] is False
    Schedule.objects.filter(name="sweep").update(task=uuid4().hex)
    assert site_facts(CANARY)["swept"] is True


def test_an_order_that_was_ended_by_its_refund_is_refunded_and_not_failed(order):
    assert (order_facts()["status"], order_facts()["refunded"]) == ("delivered", False)
    Order.objects.update(refunded_at=timezone.now())
    assert (order_facts()["status"], order_facts()["refunded"]) == ("delivered", True)
    Order.objects.update(status="failed")
    assert (order_facts()["status"], order_facts()["refunded"]) == ("refunded", True)


def model_call(kind: str, outcome: str, seconds: float) -> None:
    ModelCall.objects.create(
        session_id=SESSION,
        kind=kind,
        tier="quick",
        asked={},
        sent={},
        outcome=outcome,
        duration_ms=round(1000 * seconds),
    )


@pytest.mark.parametrize(
    ("kind", "outcome", "seconds", "timed_out"),
    [
        ("original", "busy", 6.0, 1),
        ("original", "busy", 5.9, 0),
        ("original", "answered", 6.0, 0),
        ("regen", "busy", 4.0, 1),
        ("regen", "busy", 3.9, 0),
    ],
)
def test_a_call_timed_out_if_it_failed_at_its_deadline(
    order, settings, kind, outcome, seconds, timed_out
):
    settings.ORACLE_MODEL_DEADLINE, settings.ORACLE_REGENERATION_DEADLINE = 6, 4
    model_call(kind, outcome, seconds)
    assert order_facts()["timed_out"] == timed_out
