"""The facts say what is in the database, also where no query sees it."""

from uuid import uuid4

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task
from django_q.tasks import async_task

from audit.actions import record_action
from audit.log import log
from audit.models import Action, CrosscheckLog, DivergenceEvent, LogEntry
from drill.faults.disk import FullDevice
from drill.invariants.gathering import site_facts
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


def of_order() -> dict:
    [found] = site_facts(CANARY)["orders"]
    return found


def test_a_regeneration_without_a_comparison_on_record_is_uncompared(order):
    regen = regenerated(order, "RED")  # nothing is due, and nothing was done
    assert of_order()["uncompared"] == 1
    compare(regen, "significant")
    assert of_order()["uncompared"] == 0


def test_a_contradiction_counts_once_however_often_it_is_met(order):
    for label, level in [("RED", "significant"), ("RED", "significant"), ("AMBER", "minor")]:
        compare(regenerated(order, label), level)
    assert of_order()["contradictions"] == 1
    compare(regenerated(order, "NULL"), "significant")
    assert of_order()["contradictions"] == 2


@pytest.mark.parametrize(
    "kept",
    [
        {"args": (f"a {CANARY}",)},
        {"kwargs": {"text": [f"a {CANARY}"]}},
        {"result": f"Traceback: {CANARY}"},
    ],
    ids=lambda kept: next(iter(kept)),
)
def test_rejected_text_in_a_pickle_of_the_queue_is_found(kept):
    now = timezone.now()
    Task.objects.create(id=uuid4().hex, name="a", func="a", started=now, stopped=now, **kept)
    assert site_facts(CANARY)["leaks"] == [f"Task.{next(iter(kept))}"]


def test_rejected_text_in_a_job_that_waits_is_found():
    async_task("verdicts.tasks.deliver", f"a {CANARY}", broker=DelayingBroker("post"))
    assert OrmQ.objects.filter(payload__contains=CANARY).count() == 0
    assert site_facts(CANARY)["leaks"] == ["OrmQ.payload"]


def acted(why: str) -> None:
    record_action(session_id=SESSION, action="evict", who="drill", reason=why)


def unmatched() -> list[str]:
    return site_facts(CANARY)["log"]["unmatched"]


@pytest.mark.django_db(transaction=True)
def test_what_has_one_line_each_is_complete():
    acted("one")
    acted("two")
    acted("two")
    assert unmatched() == []


@pytest.mark.django_db(transaction=True)
def test_a_missing_entry_and_a_doubled_one_are_not_even():
    acted("one")
    acted("two")
    Action.objects.filter(reason="one").update(reason="two")
    about = f"staff_action ('{SESSION}', 'evict', 'drill'"
    assert unmatched() == [
        f"{about}, 'one'): 1 entries for 0 rows",
        f"{about}, 'two'): 1 entries for 2 rows",
    ]


@pytest.mark.django_db(transaction=True)
def test_a_missing_line_and_a_doubled_one_are_not_even(settings):
    acted("one")
    acted("two")
    first, second = settings.ORACLE_LOG_PATH.read_text().splitlines(keepends=True)
    settings.ORACLE_LOG_PATH.write_text(first + first)
    ids = LogEntry.objects.order_by("pk").values_list("public_id", flat=True)
    assert [first.count(ids[0]), second.count(ids[1])] == [1, 1]
    assert sorted(unmatched()) == sorted(
        [f"entry {ids[0]} has 2 lines", f"entry {ids[1]} has 0 lines"]
    )


@pytest.mark.django_db(transaction=True)
def test_a_line_that_waits_for_room_counts_at_each_failed_write(settings):
    disk = FullDevice(settings.ORACLE_LOG_PATH)
    disk.fill()
    acted("one")
    log.flush()
    disk.free()
    log.flush()
    assert site_facts(CANARY)["log"]["left_waiting"] == 2


def test_only_the_schedules_own_sweep_is_one():
    assert site_facts(CANARY)["swept"] is False
    Schedule.objects.filter(name="sweep").update(task=uuid4().hex)
    assert site_facts(CANARY)["swept"] is True


def test_an_order_that_its_refund_has_ended_is_refunded_and_not_failed(order):
    assert (of_order()["status"], of_order()["refunded"]) == ("delivered", False)
    Order.objects.update(refunded_at=timezone.now())
    assert (of_order()["status"], of_order()["refunded"]) == ("delivered", True)
    Order.objects.update(status="failed")
    assert (of_order()["status"], of_order()["refunded"]) == ("refunded", True)
