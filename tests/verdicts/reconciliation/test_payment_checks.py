from datetime import timedelta

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from audit.actions import record_action
from tests.support.reconciliation import discrepancies, kinds, repairs, run_reconcile
from verdicts.clients import stripe_account
from verdicts.models import Case, Delivery, Order, Status, Verdict
from verdicts.payments.checkout import start_checkout
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.privacy.erase import erase
from verdicts.reconciliation import payment_checks
from verdicts.reconciliation.discrepancies import ALREADY_REPAIRED, ReconcileRun

pytestmark = pytest.mark.django_db

HOUR = 3600
DAY = 24 * HOUR


@pytest.fixture(autouse=True)
def no_grace_period(monkeypatch):
    """The tests buy immediately before the run."""
    monkeypatch.setattr(payment_checks, "WEBHOOK_GRACE", timedelta(0))


def ordered(**changes) -> Order:
    made = start_checkout(
        account=stripe_account(), tier="full", query="Mine?", email="me@example.com"
    )
    Order.objects.filter(session_id=made.id).update(**changes)
    return Order.objects.get(session_id=made.id)


def event(session_id: str, kind: str = "checkout.session.completed") -> None:
    receive(Event(f"evt_{kind}", kind, retrieve_session(stripe_account(), session_id)))


def test_a_delivered_order_is_no_discrepancy(sandbox, run_jobs):
    order = ordered()
    sandbox.pay(order.session_id)
    event(order.session_id)
    run_jobs()
    report = run_reconcile()
    assert discrepancies(report) == []
    assert report.run.counts["finished"] == 1


@pytest.mark.parametrize("status", ["created", "awaiting", "expired", "payment_failed"])
def test_an_unrecorded_payment_is_recorded_and_fulfilled(sandbox, run_jobs, status):
    order = ordered(status=status)
    sandbox.pay(order.session_id)
    report = run_reconcile()
    (discrepancy,) = [one.discrepancy for one in report.findings]
    assert (discrepancy.kind, discrepancy.order_id, discrepancy.remedy) == (
        "payment not noted",
        order.pk,
        "manage.py reconcile --apply",
    )
    assert discrepancy.description.startswith("paid CA$5.00, but ")
    order.refresh_from_db()
    assert order.status == status  # nothing changes without --apply
    assert repairs(run_reconcile(apply=True)) == [
        f"order {order.pk} is paid; its verdict is being generated"
    ]
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED
    (message,) = sandbox.messages(to="me@example.com")
    assert "verdict" in message["subject"]
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_paid_session_without_an_order_is_fulfilled(sandbox, elsewhere, run_jobs):
    elsewhere(180)
    assert discrepancies(run_reconcile()) == [
        ("missed webhook", "paid CA$5.00, but there is no order")
    ]
    assert not Order.objects.exists()
    run_reconcile(apply=True)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert len(sandbox.messages(to="buyer@example.com")) == 1
    assert discrepancies(run_reconcile(apply=True)) == []


def test_an_order_without_a_session_id_is_found_by_its_token(sandbox):
    order = ordered()
    sandbox.pay(order.session_id)
    Order.objects.update(session_id=None)
    report = run_reconcile(apply=True)
    assert [one.discrepancy.order_id for one in report.findings] == [order.pk]
    assert Order.objects.get().status == Status.PAID


def test_sessions_that_are_not_ours_are_counted_and_ignored(sandbox, elsewhere):
    elsewhere(180, metadata={"shop": "other"})
    elsewhere(180, metadata={"tier": "gold"})
    report = run_reconcile(apply=True)
    assert discrepancies(report) == []
    assert report.run.counts["not_ours"] == 2
    assert not Order.objects.exists()


def test_an_unfinished_session_is_no_discrepancy(sandbox):
    ordered()
    report = run_reconcile()
    assert (discrepancies(report), report.run.counts["finished"]) == ([], 0)


def test_a_pending_delayed_payment_is_recorded(sandbox, elsewhere):
    order = ordered()
    sandbox.pay(order.session_id, method="delayed")
    elsewhere(180, payment_status="unpaid")
    assert sorted(discrepancies(run_reconcile())) == [
        ("missed webhook", "its payment is pending, but there is no order"),
        ("payment not noted", "its payment is pending, but not recorded here"),
    ]
    run_reconcile(apply=True)
    assert set(Order.objects.values_list("status", flat=True)) == {"awaiting"}
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_delayed_payment_that_arrives_days_later_is_found_by_its_order(
    sandbox, elsewhere, run_jobs
):
    session_id = elsewhere(9 * DAY, payment_status="unpaid", status="open")
    sandbox.pay(session_id, method="delayed", email="buyer@example.com")
    event(session_id)
    Order.objects.update(created_at=timezone.now() - timedelta(days=9))
    assert discrepancies(run_reconcile()) == []
    sandbox.settle(session_id)
    assert kinds(run_reconcile()) == ["payment not noted"]
    run_reconcile(apply=True)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert discrepancies(run_reconcile(apply=True)) == []


def test_a_delayed_payment_that_never_arrives_is_left_for_staff(sandbox):
    order = ordered(status="awaiting")
    Order.objects.update(created_at=timezone.now() - timedelta(days=31))
    assert discrepancies(run_reconcile()) == [("payment awaited", "pending for 31 days")]
    sandbox.reset()
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [("payment awaited", "Stripe does not know its session")]
    assert (report.left, report.findings[0].discrepancy.order_id) == (1, order.pk)


def test_sessions_unknown_to_stripe_do_not_block_the_others(sandbox, monkeypatch):
    monkeypatch.setattr(payment_checks, "MAX_PENDING_PER_RUN", 1)
    unknown = ordered(status="awaiting")
    sandbox.reset()
    known = ordered(status="awaiting")
    Order.objects.update(created_at=timezone.now() - timedelta(days=31))
    asked = [one.discrepancy.order_id for _ in range(2) for one in run_reconcile().findings]
    assert asked == [unknown.pk, known.pk]


def test_what_a_webhook_has_recorded_meanwhile_is_already_repaired(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(300)
    found = payment_checks.payment_discrepancies(
        ReconcileRun(timezone.now() - timedelta(days=1), 60, lambda _: None),
        account=stripe_account(),
    )
    discrepancy = next(found)
    event(session_id)
    assert discrepancy.repair() == ALREADY_REPAIRED


def test_a_session_within_the_grace_period_is_not_checked(sandbox, elsewhere, monkeypatch):
    monkeypatch.undo()
    elsewhere(60)
    order = ordered()
    sandbox.pay(order.session_id)
    assert discrepancies(run_reconcile(apply=True)) == []
    elsewhere(180)
    assert kinds(run_reconcile(apply=True)) == ["missed webhook"]


def test_a_wrong_amount_is_held_for_staff_and_never_fulfilled(sandbox, elsewhere, run_jobs):
    elsewhere(180, amount_subtotal=100, amount_total=100)
    report = run_reconcile(apply=True)
    order = Order.objects.get()
    page = f"{settings.SITE_URL}/admin/verdicts/order/{order.pk}/change/"
    assert repairs(report) == [f"!held for staff: {page}"]
    assert report.left == 1
    run_jobs()
    order.refresh_from_db()
    assert (order.status, Verdict.objects.count()) == (Status.HELD, 0)
    again = run_reconcile(apply=True)
    assert discrepancies(again) == [("held", "paid 100 cad, the price was 500 cad")]
    assert again.findings[0].discrepancy.remedy.endswith(
        f"/admin/verdicts/case/{Case.objects.get().pk}/change/"
    )
    assert Case.objects.count() == 1


def test_a_wrong_amount_without_a_case_is_left_for_staff(sandbox, run_jobs):
    order = ordered()
    sandbox.pay(order.session_id)
    event(order.session_id)
    run_jobs()
    Order.objects.update(price_cents=700)
    report = run_reconcile(apply=True)
    assert discrepancies(report)[0] == (
        "amount",
        "paid 500 cad, the price was 700 cad, and it has no case",
    )
    Case.objects.create(order=order, kind=Case.Kind.HELD, closed_at=timezone.now())
    assert "amount" not in kinds(run_reconcile())


def test_an_erased_order_stays_erased(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(180)
    run_reconcile(apply=True)
    run_jobs()
    erase(Order.objects.get(), who="Ada", reason="asked")
    report = run_reconcile(apply=True)
    assert discrepancies(report) == []
    assert report.run.counts["erased"] == 1
    order = Order.objects.get()
    assert (order.session_id, order.status, order.query, order.email) == (
        session_id,
        Status.ERASED,
        "",
        "",
    )
    assert run_jobs() == []


def test_a_payment_of_an_order_that_was_erased_unpaid_is_left_for_staff(sandbox):
    order = ordered(status=Status.EXPIRED)
    erase(order, who="Ada", reason="asked")
    assert discrepancies(run_reconcile(apply=True)) == []
    sandbox.pay(order.session_id)
    event(order.session_id)
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [
        ("payment not noted", "paid CA$5.00, but erased before it was paid")
    ]
    assert report.left == 1
    assert Order.objects.get().status == Status.ERASED
    sandbox.refund(order.session_id)
    assert discrepancies(run_reconcile(apply=True)) == []


def test_an_erasure_that_only_the_log_has_is_respected(sandbox, elsewhere, transactional_db):
    session_id = elsewhere(180)
    record_action(session_id=session_id, action="erase", who="Ada", reason="asked")
    report = run_reconcile(apply=True)
    assert (discrepancies(report), report.run.counts["erased"]) == ([], 1)
    assert not Order.objects.exists()


def test_a_verdict_that_only_the_log_has_is_not_generated_and_emailed_again(
    sandbox, elsewhere, run_jobs, ask, transactional_db
):
    session_id = elsewhere(180)
    run_reconcile(apply=True)
    run_jobs()
    label = Verdict.objects.get().label
    delete_orders()  # a database restored from before, with the current log
    report = run_reconcile(apply=True)
    assert discrepancies(report) == [
        ("order lost", "its verdict is in the log, but there is no order")
    ]
    assert run_jobs() == []
    assert len(sandbox.messages()) == 1
    assert ask(session_id).json()["regen"] is True
    run_jobs()
    assert ask(session_id).json()["divergence"]["emailed_verdict"] == label
    assert discrepancies(run_reconcile(apply=True)) == []


def delete_orders() -> None:
    with connection.cursor() as cursor:
        for table in (
            "verdicts_cachedverdict",
            "verdicts_delivery",
            "verdicts_verdict",
            "verdicts_order",
        ):
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own tables


def test_sessions_older_than_this_installation_are_ignored(sandbox, elsewhere):
    elsewhere(2 * DAY)
    report = run_reconcile(apply=True)
    assert (discrepancies(report), report.run.counts["older"]) == ([], 1)
    assert not Order.objects.exists()


@pytest.mark.usefixtures("open_for_long")
def test_a_payment_missed_for_days_is_fulfilled(sandbox, elsewhere, run_jobs):
    elsewhere(3 * DAY)
    run_reconcile(apply=True)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert Delivery.objects.get().state == "sent"


@pytest.mark.usefixtures("open_for_long")
def test_only_sessions_created_in_the_period_are_checked(sandbox, elsewhere):
    elsewhere(3 * HOUR)
    assert kinds(run_reconcile(hours=2)) == []
    assert kinds(run_reconcile(hours=4)) == ["missed webhook"]


def test_a_refunded_payment_is_not_generated(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(180)
    sandbox.refund(session_id)
    assert repairs(run_reconcile(apply=True)) == [
        f"order {Order.objects.get().pk} is recorded as paid and refunded"
    ]
    run_jobs()
    order = Order.objects.get()
    assert (order.status, order.refunded_cents) == (Status.FAILED, 500)
    assert sandbox.requests("gemini") == []
    assert discrepancies(run_reconcile(apply=True)) == []


def test_many_sessions_take_few_queries(sandbox, elsewhere, django_assert_max_num_queries):
    for _ in range(120):
        elsewhere(180, metadata={"shop": "other"})
    with django_assert_max_num_queries(25):
        assert run_reconcile().run.counts["finished"] == 120


def test_a_failed_repair_does_not_block_the_others(sandbox, elsewhere):
    bad, good = elsewhere(180), elsewhere(210)

    def refuse(execute, sql, parameters, *more):
        if sql.startswith('INSERT INTO "verdicts_order"') and bad in parameters:
            raise DatabaseError("no room")
        return execute(sql, parameters, *more)

    with connection.execute_wrapper(refuse):
        report = run_reconcile(apply=True)
    assert repairs(report)[0] == "!failed, see the service log"
    assert (report.repaired, report.left) == (1, 1)
    assert Order.objects.get().session_id == good
    assert run_reconcile(apply=True).repaired == 1
