"""A restored database with a newer log: nothing is emailed twice, erased orders stay erased."""

import itertools

import pytest
from django.utils import timezone

from audit.log import reader
from tests.support.reconciliation import discrepancies, repairs, run_reconcile
from tests.support.restored_database import forget_orders
from verdicts.clients import stripe_account
from verdicts.core.errors import PaymentsBusy
from verdicts.models import Order, Recovered, Status, Verdict
from verdicts.payments import session_history
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.payments.stripe_sync import import_from_stripe
from verdicts.privacy.erase import erase

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("open_for_long"),
]
HOUR = 3600
DAY = 24 * HOUR
BUYER = "buyer@example.com"
numbers = itertools.count()


def event(session_id: str, kind: str = "checkout.session.completed") -> str:
    raw = retrieve_session(stripe_account(), session_id)
    stored = receive(Event(f"evt_{next(numbers)}", kind, raw))
    stored.refresh_from_db()
    return stored.outcome


@pytest.fixture
def emailed(sandbox, elsewhere, run_jobs):
    """A session whose verdict was emailed; the rows about it can then be deleted."""

    def make(age: float = 3 * HOUR) -> str:
        session_id = elsewhere(age)
        event(session_id)
        run_jobs()
        assert len(sandbox.messages(to=BUYER)) == 1
        return session_id

    return make


def test_a_read_before_reconciliation_loses_no_email(sandbox, elsewhere, run_jobs):
    order = import_from_stripe(elsewhere(2 * HOUR), account=stripe_account())
    assert order.status == Status.PAID
    run_jobs()
    assert len(sandbox.messages(to=BUYER)) == 1
    assert discrepancies(run_reconcile(apply=True)) == []


@pytest.mark.parametrize("first", ["look", "reader", "event"])
def test_a_session_judged_by_the_log_is_not_emailed_again_by_repeated_events(
    sandbox, emailed, run_jobs, first
):
    session_id = emailed()
    forget_orders()
    if first == "look":
        run_reconcile(apply=True)
    elif first == "reader":
        import_from_stripe(session_id, account=stripe_account())
    event(session_id)
    event(session_id)
    run_jobs()
    order = Order.objects.get()
    assert (order.status, order.recovered) == (Status.DELIVERED, Recovered.JUDGED)
    assert (len(sandbox.messages(to=BUYER)), Verdict.objects.count()) == (1, 0)


@pytest.mark.parametrize("status", [Status.CREATED, Status.PAID])
def test_an_order_judged_after_the_backup_is_not_judged_again(sandbox, emailed, run_jobs, status):
    session_id = emailed()
    forget_orders()
    order = Order.objects.create(
        session_id=session_id,
        status=status,
        tier="full",
        query="A bakery, really?",
        email=BUYER,
        price_cents=500,
        currency="cad",
        paid_at=timezone.now(),
        due_at=timezone.now(),
    )
    report = run_reconcile(apply=True)
    assert [kind for kind, _ in discrepancies(report)] == ["order lost"]
    run_jobs()
    order.refresh_from_db()
    assert (order.status, order.recovered) == (Status.DELIVERED, Recovered.JUDGED)
    assert len(sandbox.messages(to=BUYER)) == 1
    assert discrepancies(run_reconcile(apply=True)) == []


@pytest.mark.parametrize("who", ["reader", "completed", "expired"])
def test_a_session_that_the_log_has_erased_stays_erased(sandbox, emailed, ask, who):
    session_id = emailed()
    erase(Order.objects.get(), who="Ada", reason="asked")
    forget_orders()
    if who == "reader":
        assert ask(session_id).status_code == 410
    else:
        assert event(session_id, f"checkout.session.{who}") == "erased"
    order = Order.objects.get()
    assert (order.status, order.query, order.email) == (Status.ERASED, "", "")
    assert discrepancies(run_reconcile(apply=True)) == []


def test_an_erasure_that_the_backup_lacks_is_repeated(sandbox, emailed, run_jobs):
    session_id = emailed()
    order = Order.objects.get()
    erase(order, who="Ada", reason="asked")
    Order.objects.update(status=Status.DELIVERED, query="A bakery, really?", email=BUYER)
    lost = ("order lost", "erased before the database was restored")
    assert discrepancies(run_reconcile()) == [lost]
    assert repairs(run_reconcile(apply=True)) == ["erased again"]
    order.refresh_from_db()
    assert (order.session_id, order.status, order.query, order.email) == (
        session_id,
        Status.ERASED,
        "",
        "",
    )
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_session_that_another_hosts_log_may_have_is_left_to_staff(
    sandbox, emailed, run_jobs, settings
):
    session_id = emailed()
    forget_orders()
    settings.ORACLE_LOG_NAME = "another"
    settings.ORACLE_LOG_PATH = settings.ORACLE_LOG_PATH.with_name("another.jsonl")
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [("missed webhook", "paid CA$5.00, but there is no order")]
    assert (report.left, run_jobs(), Order.objects.count()) == (1, [], 0)
    assert "other hosts' oracle_log.jsonl" in report.findings[0].discrepancy.remedy
    import_from_stripe(session_id, account=stripe_account())  # a reader opens the page (R10)
    assert run_jobs() == []
    assert [kind for kind, _ in discrepancies(run_reconcile(apply=True))] == ["no email"]
    event(session_id)  # staff resend the event from the dashboard
    run_jobs()
    assert len(sandbox.messages(to=BUYER)) == 2
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_young_session_is_new_also_with_other_hosts(sandbox, emailed, elsewhere, settings):
    emailed()
    forget_orders()
    settings.ORACLE_LOG_NAME = "another"
    settings.ORACLE_LOG_PATH = settings.ORACLE_LOG_PATH.with_name("another.jsonl")
    elsewhere(300)
    assert run_reconcile(apply=True).repaired == 1


def test_a_log_read_timeout_creates_no_order(sandbox, emailed, monkeypatch):
    session_id = emailed()
    forget_orders()
    monkeypatch.setattr(session_history, "LOG_READ_TIMEOUT", -1.0)
    with pytest.raises(PaymentsBusy, match="the log could not be read"):
        import_from_stripe(session_id, account=stripe_account())
    with pytest.raises(PaymentsBusy):
        event(session_id)
    assert not Order.objects.exists()


def test_reconciliation_reads_the_log_once(sandbox, emailed, elsewhere, monkeypatch):
    emailed()
    forget_orders()
    for _ in range(150):
        elsewhere(300)
    passes, real = [], reader.lines
    monkeypatch.setattr(reader, "lines", lambda: passes.append(1) or real())
    run_reconcile()
    assert len(passes) == 1
