from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import OrmQ

from audit.log import log
from audit.log.erasure import erase_previews
from audit.models import DivergenceEvent, LogEntry
from tests.support.reconciliation import discrepancies, kinds, repairs, run_reconcile
from verdicts.models import CachedVerdict, Delivery, Order, Verdict
from verdicts.results import cache

pytestmark = pytest.mark.django_db(transaction=True)

OVERDUE = timedelta(minutes=6)


def test_a_verdict_without_an_email_is_emailed(delivered, run_jobs, sandbox):
    delivered()
    Delivery.objects.all().delete()
    assert discrepancies(run_reconcile()) == [("no email", "no email of its verdict")]
    assert repairs(run_reconcile(apply=True)) == ["email queued"]
    assert discrepancies(run_reconcile(apply=True)) == []
    run_jobs()
    assert Delivery.objects.get().state == "sent"


def test_a_refunded_order_is_not_emailed(delivered):
    delivered()
    Delivery.objects.all().delete()
    Order.objects.update(refunded_at=timezone.now(), refunded_cents=500)
    assert "no email" not in kinds(run_reconcile())


def test_an_order_without_its_verdict_is_left_for_staff(delivered):
    order = delivered()
    CachedVerdict.objects.all().delete()
    Verdict.objects.all().delete()
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [("no verdict", "delivered, but no verdict is stored")]
    assert report.findings[0].discrepancy.remedy.endswith(
        f"/admin/verdicts/order/{order.pk}/change/"
    )
    assert report.left == 1


def test_a_cache_miss_is_no_discrepancy(missed):
    missed()
    assert discrepancies(run_reconcile()) == []


@pytest.mark.parametrize("field", ["body", "etag"])
def test_a_cached_response_that_differs_from_the_verdict_is_rendered_again(delivered, ask, field):
    order = delivered()
    original = ask(order.session_id).content
    CachedVerdict.objects.update(**{field: '{"verdict": "FORGED"}'[:64]})
    assert discrepancies(run_reconcile()) == [
        ("cache", "the cached response differs from the stored verdict")
    ]
    assert repairs(run_reconcile(apply=True)) == ["rendered again from the stored verdict"]
    assert ask(order.session_id).content == original
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_cached_response_of_another_order_is_replaced(delivered, ask, sandbox):
    mine, other = delivered(query="Mine?"), delivered(query="Theirs?")
    original = ask(mine.session_id).content
    entry = CachedVerdict.objects.get(session_id=other.session_id)
    CachedVerdict.objects.filter(session_id=mine.session_id).update(verdict=entry.verdict)
    cache.refresh(mine)
    assert kinds(run_reconcile(apply=True)) == ["cache"]
    assert ask(mine.session_id).content == original
    assert sandbox.requests("gemini") == []


def test_a_cached_response_that_is_not_approved_is_replaced(delivered):
    delivered()
    CachedVerdict.objects.update(approved=False)
    assert kinds(run_reconcile(apply=True)) == ["cache"]
    assert CachedVerdict.objects.get().approved


def test_an_expired_cache_entry_is_no_discrepancy(delivered):
    delivered()
    CachedVerdict.objects.update(body="old", expires_at=1)
    assert discrepancies(run_reconcile()) == []


def test_a_regeneration_with_its_disclaimer_is_no_discrepancy(missed, ask, run_jobs, sandbox):
    order = missed(label="GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    assert discrepancies(run_reconcile()) == []
    run_jobs()
    assert DivergenceEvent.objects.get().level == "significant"
    assert discrepancies(run_reconcile()) == []


def test_a_regeneration_that_was_never_compared_is_compared(missed, ask, run_jobs):
    order = missed()
    ask(order.session_id)
    OrmQ.objects.all().delete()
    Verdict.objects.update(compare_due_at=None)
    assert discrepancies(run_reconcile()) == [
        ("not compared", "a regeneration was never compared with the emailed verdict")
    ]
    run_reconcile(apply=True)
    run_jobs()
    assert DivergenceEvent.objects.count() == 1
    assert discrepancies(run_reconcile(apply=True)) == []


def test_only_orders_paid_in_the_period_are_checked(delivered):
    delivered()
    CachedVerdict.objects.update(body="old")
    Order.objects.update(paid_at=timezone.now() - timedelta(hours=3))
    assert kinds(run_reconcile(hours=2)) == []
    assert kinds(run_reconcile(hours=4)) == ["cache"]


def queries_of_a_run() -> int:
    with CaptureQueriesContext(connection) as captured:
        assert discrepancies(run_reconcile()) == []
    return len(captured)


def test_the_number_of_queries_does_not_depend_on_the_number_of_orders(missed, ask, run_jobs):
    for count in (1, 3):
        for _ in range(count):
            ask(missed().session_id)
        run_jobs()
        counted = queries_of_a_run()
        if count == 1:
            first = counted
    assert CachedVerdict.objects.count() == 4
    assert counted == first


def make_overdue() -> None:
    LogEntry.objects.update(created_at=timezone.now() - OVERDUE)


def test_pending_log_lines_are_written(db, sandbox, settings, tmp_path):
    path = settings.ORACLE_LOG_PATH
    settings.ORACLE_LOG_PATH = tmp_path / "missing" / "log"
    log.append({"event": "x", "session_id": "cs_test_12345678"})
    assert [description for _, description in discrepancies(run_reconcile())] == [
        "the file cannot be read: No such file or directory"
    ]
    make_overdue()
    report = run_reconcile(apply=True)
    assert repairs(report) == ["!the file cannot be written: see the service log"]
    settings.ORACLE_LOG_PATH = path
    assert discrepancies(run_reconcile()) == [("log", "1 line of test: not yet in the file")]
    assert repairs(run_reconcile(apply=True)) == ["written"]
    assert len(path.read_text().splitlines()) == 1
    assert discrepancies(run_reconcile(apply=True)) == []


def test_log_lines_of_another_host_are_repaired_there(db, sandbox, settings):
    log.append({"event": "x", "session_id": "cs_test_12345678"})
    LogEntry.objects.update(host="web-2", written_at=None, sequence=None, prev="", hash="")
    make_overdue()
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [("log", "1 line of web-2: not yet in the file")]
    assert report.findings[0].discrepancy.remedy == "on web-2: manage.py audit_verify --repair"
    assert report.left == 1


def test_missing_lines_at_the_end_of_the_log_file_are_restored(db, sandbox, settings):
    for number in range(3):
        log.append({"event": "x", "session_id": f"cs_test_1234567{number}"})
    path = settings.ORACLE_LOG_PATH
    complete = path.read_text()
    path.write_text("".join(complete.splitlines(keepends=True)[:1]))
    assert discrepancies(run_reconcile()) == [("log", "the last lines are missing from the file")]
    assert repairs(run_reconcile(apply=True)) == ["missing lines written"]
    assert path.read_text() == complete
    assert discrepancies(run_reconcile()) == []


def test_a_preview_that_is_erased_only_in_the_database_is_erased_in_the_file(db, sandbox):
    log.append({"event": "x", "session_id": "cs_test_12345678", "query_preview": "mine"})
    erase_previews(["cs_test_12345678"])
    assert discrepancies(run_reconcile()) == []
    LogEntry.objects.update(erased_at=timezone.now() - OVERDUE)
    assert discrepancies(run_reconcile(apply=True)) == [
        ("log", "1 line of test: erased, but not in the file")
    ]
    assert discrepancies(run_reconcile()) == []
