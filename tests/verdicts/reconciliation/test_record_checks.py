from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import OrmQ

from audit.log import log
from audit.log.erasure import erase_previews
from audit.models import DivergenceEvent, LogEntry
from tests.support.reconciliation import discrepancies, done, kinds, look
from verdicts.models import CachedVerdict, Delivery, Order, Verdict
from verdicts.results import cache

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timedelta(minutes=6)


def test_a_verdict_that_was_never_to_be_emailed_is_emailed(delivered, run_jobs, sandbox):
    delivered()
    Delivery.objects.all().delete()
    assert discrepancies(look()) == [("no email", "its verdict was never to be emailed")]
    assert done(look(apply=True)) == ["queued to be sent"]
    assert discrepancies(look(apply=True)) == []
    run_jobs()
    assert Delivery.objects.get().state == "sent"


def test_who_has_the_money_back_is_not_emailed_after_all(delivered):
    delivered()
    Delivery.objects.all().delete()
    Order.objects.update(refunded_at=timezone.now(), refunded_cents=500)
    assert "no email" not in kinds(look())


def test_an_order_without_its_verdict_is_for_a_person(delivered):
    order = delivered()
    CachedVerdict.objects.all().delete()
    Verdict.objects.all().delete()
    report = look(apply=True)
    assert discrepancies(report) == [("no verdict", "delivered, but no verdict is stored")]
    assert report.findings[0].discrepancy.remedy.endswith(
        f"/admin/verdicts/order/{order.pk}/change/"
    )
    assert report.left == 1


def test_an_answer_that_is_not_cached_is_no_discrepancy(missed):
    missed()
    assert discrepancies(look()) == []


@pytest.mark.parametrize("field", ["body", "etag"])
def test_a_cached_answer_that_differs_from_the_record_is_rendered_anew(delivered, ask, field):
    order = delivered()
    true = ask(order.session_id).content
    CachedVerdict.objects.update(**{field: '{"verdict": "FORGED"}'[:64]})
    assert discrepancies(look()) == [("cache", "the cached answer is not what is on record")]
    assert done(look(apply=True)) == ["rendered anew from what is stored"]
    assert ask(order.session_id).content == true
    assert discrepancies(look(apply=True)) == []


def test_a_cached_answer_of_another_order_is_replaced_by_its_own(delivered, ask, sandbox):
    mine, other = delivered(query="Mine?"), delivered(query="Theirs?")
    true = ask(mine.session_id).content
    entry = CachedVerdict.objects.get(session_id=other.session_id)
    CachedVerdict.objects.filter(session_id=mine.session_id).update(verdict=entry.verdict)
    cache.refresh(mine)
    assert kinds(look(apply=True)) == ["cache"]
    assert ask(mine.session_id).content == true
    assert sandbox.requests("gemini") == []


def test_a_cached_answer_that_the_gate_did_not_approve_is_replaced(delivered):
    delivered()
    CachedVerdict.objects.update(approved=False)
    assert kinds(look(apply=True)) == ["cache"]
    assert CachedVerdict.objects.get().approved


def test_an_answer_that_has_expired_is_no_discrepancy(delivered):
    delivered()
    CachedVerdict.objects.update(body="old", expires_at=1)
    assert discrepancies(look()) == []


def test_a_regeneration_with_its_disclaimer_is_no_discrepancy(missed, ask, run_jobs, sandbox):
    order = missed(label="GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    assert discrepancies(look()) == []
    run_jobs()
    assert DivergenceEvent.objects.get().level == "significant"
    assert discrepancies(look()) == []


def test_a_regeneration_that_was_never_compared_is(missed, ask, run_jobs):
    order = missed()
    ask(order.session_id)
    OrmQ.objects.all().delete()
    Verdict.objects.update(compare_due_at=None)
    assert discrepancies(look()) == [
        ("not compared", "a regeneration was never compared with its email")
    ]
    look(apply=True)
    run_jobs()
    assert DivergenceEvent.objects.count() == 1
    assert discrepancies(look(apply=True)) == []


def test_only_orders_paid_since_then_are_read(delivered):
    delivered()
    CachedVerdict.objects.update(body="old")
    Order.objects.update(paid_at=timezone.now() - timedelta(hours=3))
    assert kinds(look(hours=2)) == []
    assert kinds(look(hours=4)) == ["cache"]


def queries_of_a_look() -> int:
    with CaptureQueriesContext(connection) as captured:
        assert discrepancies(look()) == []
    return len(captured)


def test_many_orders_take_as_many_queries_as_one(missed, ask, run_jobs):
    for count in (1, 3):
        for _ in range(count):
            ask(missed().session_id)
        run_jobs()
        counted = queries_of_a_look()
        if count == 1:
            first = counted
    assert CachedVerdict.objects.count() == 4
    assert counted == first


def age(**which) -> None:
    LogEntry.objects.filter(**which).update(created_at=timezone.now() - LONG_AGO)


def test_lines_that_wait_for_their_file_are_written(db, sandbox, settings, tmp_path):
    path = settings.ORACLE_LOG_PATH
    settings.ORACLE_LOG_PATH = tmp_path / "missing" / "log"
    log.append({"event": "x", "session_id": "cs_test_12345678"})
    assert [what for kind, what in discrepancies(look())] == [
        "the file cannot be read: No such file or directory"
    ]
    age()
    report = look(apply=True)
    assert done(report) == ["!it cannot be written: see the service log"]
    settings.ORACLE_LOG_PATH = path
    assert discrepancies(look()) == [("log", "1 line of test: not in the file yet")]
    assert done(look(apply=True)) == ["done"]
    assert len(path.read_text().splitlines()) == 1
    assert discrepancies(look(apply=True)) == []


def test_lines_of_another_host_are_mended_there(db, sandbox, settings):
    log.append({"event": "x", "session_id": "cs_test_12345678"})
    LogEntry.objects.update(host="web-2", written_at=None, sequence=None, prev="", hash="")
    age()
    report = look(apply=True)
    assert discrepancies(report) == [("log", "1 line of web-2: not in the file yet")]
    assert report.findings[0].discrepancy.remedy == "on web-2: manage.py audit_verify --repair"
    assert report.left == 1


def test_a_file_that_was_cut_is_put_back(db, sandbox, settings):
    for number in range(3):
        log.append({"event": "x", "session_id": f"cs_test_1234567{number}"})
    path = settings.ORACLE_LOG_PATH
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(keepends=True)[:1]))
    assert discrepancies(look()) == [("log", "the file ends before the record does")]
    assert done(look(apply=True)) == ["put back"]
    assert path.read_text() == whole
    assert discrepancies(look()) == []


def test_a_preview_that_is_erased_but_not_in_the_file_is(db, sandbox):
    log.append({"event": "x", "session_id": "cs_test_12345678", "query_preview": "mine"})
    erase_previews(["cs_test_12345678"])
    assert discrepancies(look()) == []
    LogEntry.objects.update(erased_at=timezone.now() - LONG_AGO)
    assert discrepancies(look(apply=True)) == [
        ("log", "1 line of test: erased, but not in the file")
    ]
    assert discrepancies(look()) == []
