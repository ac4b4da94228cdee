"""The comparison: where the original comes from, what is recorded, who is notified."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from audit.models import DivergenceEvent, Escalation, LogEntry
from tests.support.comparisons import add_comparisons
from tests.support.pauses import let_pass
from verdicts.core.disclaimer import NOTE
from verdicts.mail.outbox import deliver
from verdicts.models import CachedVerdict, Delivery, Order, Status, Verdict
from verdicts.reconciliation.sweep import sweep
from verdicts.results.compare import compare
from verdicts.tasks import deliver as deliver_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def regenerated(ask, sandbox, missed):
    """A delivered order with a regeneration of these labels that is not compared yet."""

    def make(original: str, regen: str, tier: str = "full") -> Order:
        order = missed(tier, original)
        sandbox.fault("gemini", "verdict", label=regen)
        assert ask(order.session_id).json()["verdict"]["verdict"] == regen
        return order

    return make


def entries(event: str) -> list[dict]:
    """The log entries that the test's transaction would commit."""
    appended = [json.loads(row.entry) for row in LogEntry.objects.order_by("pk")]
    return [entry for entry in appended if entry["event"] == event]


@pytest.mark.parametrize(
    ("original", "regen", "level"),
    [("GREEN", "GREEN", "none"), ("GREEN", "AMBER", "minor"), ("GREEN", "RED", "significant")],
)
@pytest.mark.parametrize("tier", ["quick", "full", "strategy"])
def test_a_divergence_is_recorded_shown_and_emailed(
    ask, sandbox, regenerated, run_jobs, tier, original, regen, level
):
    order = regenerated(original, regen, tier)
    pending = ask(order.session_id)
    run_jobs()
    event = DivergenceEvent.objects.get()
    assert (event.original_verdict, event.regen_verdict) == (original, regen)
    assert (event.level, event.skipped, event.original_source) == (level, False, "verdict")
    assert len(event.dimensions) == (0 if tier == "quick" else 5)
    assert (event.causes, event.same_inputs) == (["infrastructure"], True)

    answer = ask(order.session_id)
    assert answer["ETag"] != pending["ETag"]
    divergence = answer.json()["divergence"]
    assert (divergence["status"], divergence["level"]) == ("checked", level)
    assert divergence["emailed_verdict"] == original
    if level == "none":
        assert divergence["disclaimer"] is None
    else:
        assert f"{original}, is the authoritative one" in divergence["disclaimer"]
    notices = sandbox.messages(to="buyer@example.com")[1:]  # after the verdict itself
    assert len(notices) == (level == "significant")


def test_the_log_entry_has_the_documents_fields_in_its_order(regenerated, run_jobs):
    order = regenerated("GREEN", "RED", "quick")
    run_jobs()
    (line,) = entries("regen_divergence_check")
    documented = {
        "event": "regen_divergence_check",
        "session_id": order.session_id,
        "tier": "quick",
        "original_verdict": "GREEN",
        "regen_verdict": "RED",
        "top_level_match": False,
        "divergence_level": "significant",
    }
    assert list(line) == [*documented, "timestamp", "kind", "skipped"]
    assert documented.items() <= line.items()
    assert line["skipped"] is False


def test_the_notice_is_the_documents_text_once(sandbox, regenerated, run_jobs):
    regenerated("RED", "GREEN", "quick")
    run_jobs()
    compare(Verdict.objects.get(kind="regen").pk)
    run_jobs()
    _, notice = sandbox.messages(to="buyer@example.com")
    assert NOTE in " ".join(notice["text"].split())
    assert NOTE in " ".join(notice["html"].split())
    assert "RED" in notice["subject"]
    assert DivergenceEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)  # the log is written after the commit
def test_an_original_that_only_the_log_knows_is_compared(regenerated, run_jobs, sandbox):
    order = regenerated("GREEN", "RED", "quick")
    original = Verdict.objects.get(kind="original")
    CachedVerdict.objects.filter(verdict=original).delete()
    original.delete()
    run_jobs()
    event = DivergenceEvent.objects.get(session_id=order.session_id)
    assert (event.original_verdict, event.original_source) == ("GREEN", "log")
    assert (event.level, event.causes) == ("significant", ["unknown"])
    assert not event.same_inputs


@pytest.mark.django_db(transaction=True)
def test_an_unknown_original_is_skipped_and_logged(ask, regenerated, run_jobs, settings, sandbox):
    order = regenerated("GREEN", "RED", "quick")
    Verdict.objects.get(kind="original").delete()
    settings.ORACLE_LOG_PATH.unlink()
    run_jobs()
    event = DivergenceEvent.objects.get()
    assert (event.skipped, event.level, event.original_verdict) == (True, "", "UNKNOWN")
    divergence = ask(order.session_id).json()["divergence"]
    assert (divergence["status"], divergence["level"]) == ("skipped", None)
    assert divergence["emailed_verdict"] == "UNKNOWN"
    assert "may differ" in divergence["disclaimer"]
    entry = json.loads(LogEntry.objects.last().entry)
    assert (entry["top_level_match"], entry["divergence_level"]) == (None, None)
    assert entry["skipped"] is True
    assert len(sandbox.messages(to="buyer@example.com")) == 1


def test_a_changed_model_is_the_cause_and_nothing_else(ask, missed, run_jobs, settings):
    order = missed("quick")
    settings.ORACLE_MODEL = "gemini-2.5-pro"
    ask(order.session_id)
    run_jobs()
    event = DivergenceEvent.objects.get()
    assert (event.causes, event.same_inputs) == (["model"], False)


def test_an_entry_that_is_gone_is_not_recreated(regenerated, run_jobs):
    regenerated("GREEN", "RED", "quick")
    CachedVerdict.objects.all().delete()
    run_jobs()
    assert DivergenceEvent.objects.exists()
    assert not CachedVerdict.objects.exists()


def test_an_entry_that_holds_another_verdict_keeps_it(regenerated, run_jobs):
    order = regenerated("GREEN", "RED", "quick")
    original = Verdict.objects.get(kind="original")
    CachedVerdict.objects.update(verdict=original, body="as it was")
    run_jobs()
    entry = CachedVerdict.objects.get(session_id=order.session_id)
    assert (entry.verdict, entry.body) == (original, "as it was")


def test_a_repeated_contradiction_is_notified_once_and_a_new_one_again(
    ask, sandbox, missed, run_jobs
):
    order = missed("quick", "GREEN")
    for label in ("RED", "RED", "NULL"):
        CachedVerdict.objects.all().delete()
        Order.objects.update(regen_at=None)
        sandbox.fault("gemini", "verdict", label=label)
        ask(order.session_id)
        run_jobs()
    assert DivergenceEvent.objects.filter(level="significant").count() == 3
    _, red, null = sandbox.messages(to="buyer@example.com")
    assert "now reads RED" in " ".join(red["text"].split())
    assert "now reads NULL" in " ".join(null["text"].split())


@pytest.mark.django_db(transaction=True)
def test_an_original_recovered_from_the_log_stays_known(ask, sandbox, regenerated, run_jobs):
    order = regenerated("GREEN", "RED", "quick")
    Verdict.objects.get(kind="original").delete()
    run_jobs()
    CachedVerdict.objects.all().delete()
    Order.objects.update(regen_at=None)
    assert ask(order.session_id).json()["divergence"]["emailed_verdict"] == "GREEN"


def test_without_a_worker_the_page_is_served_and_the_sweep_queues_the_comparison(
    ask, regenerated, run_jobs
):
    order = regenerated("GREEN", "RED", "quick")
    OrmQ.objects.all().delete()  # the job is lost
    assert ask(order.session_id).json()["divergence"]["emailed_verdict"] == "GREEN"
    assert sweep()["comparisons"] == 0  # its job may still run
    Verdict.objects.filter(kind="regen").update(
        compare_due_at=timezone.now() - timedelta(minutes=6)
    )
    assert sweep()["comparisons"] == 1
    assert sweep()["comparisons"] == 0
    run_jobs()
    assert DivergenceEvent.objects.get().level == "significant"


def test_an_erased_order_is_not_compared(regenerated, run_jobs):
    regenerated("GREEN", "RED", "quick")
    Order.objects.update(status=Status.ERASED)
    run_jobs()
    assert not DivergenceEvent.objects.exists()
    assert not Verdict.objects.filter(compare_due_at__isnull=False).exists()


@pytest.fixture
def notice(regenerated) -> Delivery:
    regenerated("GREEN", "RED", "quick")
    compare(Verdict.objects.get(kind="regen").pk)
    return Delivery.objects.get(kind=Delivery.Kind.DIVERGENCE)


def test_a_refused_notice_is_retried_after_exactly_a_minute(sandbox, notice):
    sandbox.fault("graph", "unavailable", times=1, match="sendMail")
    before = timezone.now()
    deliver_task(notice.pk)
    notice.refresh_from_db()
    assert (notice.state, notice.attempts) == (Delivery.State.PENDING, 1)
    assert 59 < (notice.due_at - before).total_seconds() < 62
    let_pass(timedelta(minutes=1))
    deliver_task(notice.pk)
    notice.refresh_from_db()
    assert notice.state == Delivery.State.SENT


def test_a_notice_refused_twice_is_failed_and_opens_a_case(sandbox, notice, run_jobs):
    sandbox.fault("graph", "unavailable", times=2, match="NOTE")
    run_jobs(now=True)
    notice.refresh_from_db()
    assert (notice.state, notice.attempts) == (Delivery.State.FAILED, 2)
    (told,) = sandbox.messages(to="staff@oracle.example")
    assert "divergence email could not be sent" in told["text"]


def test_an_unknown_delivery_result_is_uncertain_and_not_retried(sandbox, notice, run_jobs):
    sandbox.fault("graph", "hang_up_after", times=1, match="sendMail")
    deliver_task(notice.pk)
    notice.refresh_from_db()
    assert notice.state == Delivery.State.UNCERTAIN
    run_jobs(now=True)
    assert len(sandbox.messages(to="buyer@example.com")) == 2
    (told,) = sandbox.messages(to="staff@oracle.example")
    assert "may or may not have been sent" in told["text"]


def test_a_notice_whose_worker_died_is_uncertain(sandbox, notice):
    def die(message):
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        deliver(notice.pk, send=die)
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    deliver_task(notice.pk)
    notice.refresh_from_db()
    assert notice.state == Delivery.State.UNCERTAIN
    assert len(sandbox.messages(to="buyer@example.com")) == 1


def test_above_five_percent_staff_are_alerted_once_a_day(sandbox, regenerated, run_jobs):
    add_comparisons(19, "none")
    for _ in range(3):  # the first is 1 of 20: at the limit, not above it
        regenerated("GREEN", "RED", "quick")
        run_jobs()
    escalation = Escalation.objects.get()
    assert (escalation.checked, escalation.diverged) == (21, 2)
    assert escalation.low < escalation.rate < escalation.high
    told = [m for m in sandbox.messages(to="staff@oracle.example") if "diverge" in m["subject"]]
    assert len(told) == 1
    assert "2 of 21" in told[0]["text"]
    (line,) = entries("infrastructure_variance")
    assert (line["checked"], line["diverged"], line["rate"]) == (21, 2, 2 / 21)


def test_fewer_than_twenty_comparisons_raise_no_alert(regenerated, run_jobs):
    add_comparisons(18, "significant")
    regenerated("GREEN", "RED", "quick")
    run_jobs()
    assert not Escalation.objects.exists()


def test_divergences_with_another_cause_do_not_count(ask, missed, sandbox, run_jobs, settings):
    add_comparisons(19, "none")
    for _ in range(3):
        settings.ORACLE_MODEL = "gemini-2.5-flash"
        order = missed("quick", "GREEN")
        settings.ORACLE_MODEL = "gemini-2.5-pro"
        sandbox.fault("gemini", "verdict", label="RED")
        ask(order.session_id)
        run_jobs()
    assert DivergenceEvent.objects.filter(level="significant").count() == 3
    assert not Escalation.objects.exists()


def test_comparisons_older_than_thirty_days_do_not_count(regenerated, run_jobs):
    add_comparisons(30, "significant")
    DivergenceEvent.objects.update(created_at=timezone.now() - timedelta(days=31))
    regenerated("GREEN", "RED", "quick")
    run_jobs()
    assert not Escalation.objects.exists()
