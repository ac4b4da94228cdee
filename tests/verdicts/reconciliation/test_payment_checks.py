from datetime import timedelta

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from audit.actions import record_action
from tests.support.reconciliation import discrepancies, done, kinds, look
from verdicts.clients import stripe_account
from verdicts.models import Case, Delivery, Order, Status, Verdict
from verdicts.payments.checkout import start_checkout
from verdicts.payments.client import Event, retrieve_session
from verdicts.payments.events import receive
from verdicts.privacy.erase import erase
from verdicts.reconciliation import payment_checks
from verdicts.reconciliation.discrepancies import FASTER, Look

pytestmark = pytest.mark.django_db

HOUR = 3600
DAY = 24 * HOUR


@pytest.fixture(autouse=True)
def no_grace(monkeypatch):
    """What is bought here is bought a moment before the look."""
    monkeypatch.setattr(payment_checks, "GRACE", timedelta(0))


def ordered(**changes) -> Order:
    made = start_checkout(
        account=stripe_account(), tier="full", query="Mine?", email="me@example.com"
    )
    Order.objects.filter(session_id=made.id).update(**changes)
    return Order.objects.get(session_id=made.id)


def event(session_id: str, kind: str = "checkout.session.completed") -> None:
    receive(Event(f"evt_{kind}", kind, retrieve_session(stripe_account(), session_id)))


def test_where_all_is_well_there_are_no_discrepancies(sandbox, run_jobs):
    order = ordered()
    sandbox.pay(order.session_id)
    event(order.session_id)
    run_jobs()
    report = look()
    assert discrepancies(report) == []
    assert report.look.counts["finished"] == 1


@pytest.mark.parametrize("status", ["created", "awaiting", "expired", "payment_failed"])
def test_a_payment_that_is_unknown_here_is_noted_and_fulfilled(sandbox, run_jobs, status):
    order = ordered(status=status)
    sandbox.pay(order.session_id)
    report = look()
    (discrepancy,) = [one.discrepancy for one in report.findings]
    assert (discrepancy.kind, discrepancy.order_id, discrepancy.remedy) == (
        "payment not noted",
        order.pk,
        "manage.py reconcile --apply",
    )
    assert discrepancy.what.startswith("paid CA$5.00, but ")
    order.refresh_from_db()
    assert order.status == status  # to look is not to touch
    assert done(look(apply=True)) == [f"order {order.pk} is paid, its verdict is being made"]
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED
    (message,) = sandbox.messages(to="me@example.com")
    assert "verdict" in message["subject"]
    assert discrepancies(look(apply=True)) == []


def test_a_session_of_ours_without_an_order_is_fulfilled(sandbox, elsewhere, run_jobs):
    elsewhere(180)
    assert discrepancies(look()) == [("missed webhook", "paid CA$5.00, no order here")]
    assert not Order.objects.exists()
    look(apply=True)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert len(sandbox.messages(to="buyer@example.com")) == 1
    assert discrepancies(look(apply=True)) == []


def test_an_order_whose_session_was_never_stored_is_found_by_its_token(sandbox):
    order = ordered()
    sandbox.pay(order.session_id)
    Order.objects.update(session_id=None)
    report = look(apply=True)
    assert [one.discrepancy.order_id for one in report.findings] == [order.pk]
    assert Order.objects.get().status == Status.PAID


def test_a_session_of_somebody_else_is_counted_and_left_alone(sandbox, elsewhere):
    elsewhere(180, metadata={"shop": "other"})
    elsewhere(180, metadata={"tier": "gold"})
    report = look(apply=True)
    assert discrepancies(report) == []
    assert report.look.counts["not_ours"] == 2
    assert not Order.objects.exists()


def test_an_unpaid_session_is_no_gap_and_one_not_finished_with_is_not_even_seen(sandbox):
    ordered()
    report = look()
    assert (discrepancies(report), report.look.counts["finished"]) == ([], 0)


def test_a_delayed_payment_under_way_is_noted(sandbox, elsewhere):
    order = ordered()
    sandbox.pay(order.session_id, method="delayed")
    elsewhere(180, payment_status="unpaid")
    assert sorted(discrepancies(look())) == [
        ("missed webhook", "its payment is under way, no order here"),
        ("payment not noted", "its payment is under way"),
    ]
    look(apply=True)
    assert set(Order.objects.values_list("status", flat=True)) == {"awaiting"}
    assert discrepancies(look(apply=True)) == []


def test_a_delayed_payment_that_came_days_later_is_found_by_its_order(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(9 * DAY, payment_status="unpaid", status="open")
    sandbox.pay(session_id, method="delayed", email="buyer@example.com")
    event(session_id)
    Order.objects.update(created_at=timezone.now() - timedelta(days=9))
    assert discrepancies(look()) == []
    sandbox.settle(session_id)
    assert kinds(look()) == ["payment not noted"]
    look(apply=True)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert discrepancies(look(apply=True)) == []


def test_a_payment_that_never_came_is_for_a_person(sandbox):
    order = ordered(status="awaiting")
    Order.objects.update(created_at=timezone.now() - timedelta(days=31))
    assert discrepancies(look()) == [("payment awaited", "awaited for 31 days")]
    sandbox.reset()
    report = look(apply=True)
    assert discrepancies(report) == [("payment awaited", "Stripe does not know its session")]
    assert (report.left, report.findings[0].discrepancy.order_id) == (1, order.pk)


def test_sessions_that_stripe_does_not_know_do_not_keep_the_others_waiting(sandbox, monkeypatch):
    monkeypatch.setattr(payment_checks, "AWAITED", 1)
    unknown = ordered(status="awaiting")
    sandbox.reset()
    known = ordered(status="awaiting")
    Order.objects.update(created_at=timezone.now() - timedelta(days=31))
    asked = [one.discrepancy.order_id for _ in range(2) for one in look().findings]
    assert asked == [unknown.pk, known.pk]


def test_what_a_webhook_has_done_meanwhile_is_not_counted_as_mended(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(300)
    found = payment_checks.payment_discrepancies(
        Look(timezone.now() - timedelta(days=1), 60, lambda _: None), account=stripe_account()
    )
    discrepancy = next(found)
    event(session_id)
    assert discrepancy.repair() == FASTER


def test_a_webhook_that_may_be_on_its_way_is_not_missed_yet(sandbox, elsewhere, monkeypatch):
    monkeypatch.undo()
    elsewhere(60)
    order = ordered()
    sandbox.pay(order.session_id)
    assert discrepancies(look(apply=True)) == []
    elsewhere(180)
    assert kinds(look(apply=True)) == ["missed webhook"]


def test_another_amount_is_held_for_staff_and_never_fulfilled(sandbox, elsewhere, run_jobs):
    elsewhere(180, amount_subtotal=100, amount_total=100)
    report = look(apply=True)
    order = Order.objects.get()
    page = f"{settings.SITE_URL}/admin/verdicts/order/{order.pk}/change/"
    assert done(report) == [f"!held for staff: {page}"]
    assert report.left == 1
    run_jobs()
    order.refresh_from_db()
    assert (order.status, Verdict.objects.count()) == (Status.HELD, 0)
    again = look(apply=True)
    assert discrepancies(again) == [("held", "paid 100 cad, the price was 500 cad")]
    assert again.findings[0].discrepancy.remedy.endswith(
        f"/admin/verdicts/case/{Case.objects.get().pk}/change/"
    )
    assert Case.objects.count() == 1


def test_another_amount_that_nobody_was_asked_about_is_for_a_person(sandbox, run_jobs):
    order = ordered()
    sandbox.pay(order.session_id)
    event(order.session_id)
    run_jobs()
    Order.objects.update(price_cents=700)
    report = look(apply=True)
    assert discrepancies(report)[0] == (
        "amount",
        "paid 500 cad, the price was 700 cad, and nobody was asked",
    )
    Case.objects.create(order=order, kind=Case.Kind.HELD, closed_at=timezone.now())
    assert "amount" not in kinds(look())


def test_the_erased_stay_erased(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(180)
    look(apply=True)
    run_jobs()
    erase(Order.objects.get(), who="Ada", reason="asked")
    report = look(apply=True)
    assert discrepancies(report) == []
    assert report.look.counts["erased"] == 1
    order = Order.objects.get()
    assert (order.session_id, order.status, order.query, order.email) == (
        session_id,
        Status.ERASED,
        "",
        "",
    )
    assert run_jobs() == []


def test_a_payment_on_an_order_that_was_erased_unpaid_is_for_a_person(sandbox):
    order = ordered(status=Status.EXPIRED)
    erase(order, who="Ada", reason="asked")
    assert discrepancies(look(apply=True)) == []
    sandbox.pay(order.session_id)
    event(order.session_id)
    report = look(apply=True)
    assert discrepancies(report) == [("payment not noted", "paid CA$5.00, but erased unpaid here")]
    assert report.left == 1
    assert Order.objects.get().status == Status.ERASED
    sandbox.refund(order.session_id)
    assert discrepancies(look(apply=True)) == []


def test_an_erasure_that_only_the_log_remembers_is_kept_to(sandbox, elsewhere, transactional_db):
    session_id = elsewhere(180)
    record_action(session_id=session_id, action="erase", who="Ada", reason="asked")
    report = look(apply=True)
    assert (discrepancies(report), report.look.counts["erased"]) == ([], 1)
    assert not Order.objects.exists()


def test_what_the_log_says_was_judged_is_not_judged_and_emailed_twice(
    sandbox, elsewhere, run_jobs, ask, transactional_db
):
    session_id = elsewhere(180)
    look(apply=True)
    run_jobs()
    label = Verdict.objects.get().label
    forget_everything()  # a database from before, beside the log of today
    report = look(apply=True)
    assert discrepancies(report) == [("order lost", "its verdict is in the log, its order is gone")]
    assert run_jobs() == []
    assert len(sandbox.messages()) == 1
    assert ask(session_id).json()["regen"] is True
    run_jobs()
    assert ask(session_id).json()["divergence"]["emailed_verdict"] == label
    assert discrepancies(look(apply=True)) == []


def forget_everything() -> None:
    with connection.cursor() as cursor:
        for table in (
            "verdicts_cachedverdict",
            "verdicts_delivery",
            "verdicts_verdict",
            "verdicts_order",
        ):
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own tables


def test_what_was_sold_before_this_house_was_set_up_is_left_alone(sandbox, elsewhere):
    elsewhere(2 * DAY)
    report = look(apply=True)
    assert (discrepancies(report), report.look.counts["older"]) == ([], 1)
    assert not Order.objects.exists()


@pytest.mark.usefixtures("open_for_long")
def test_what_was_missed_for_days_is_fulfilled_all_the_same(sandbox, elsewhere, run_jobs):
    elsewhere(3 * DAY)
    look(apply=True)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED
    assert Delivery.objects.get().state == "sent"


@pytest.mark.usefixtures("open_for_long")
def test_only_what_was_made_since_then_is_looked_at(sandbox, elsewhere):
    elsewhere(3 * HOUR)
    assert kinds(look(hours=2)) == []
    assert kinds(look(hours=4)) == ["missed webhook"]


def test_who_has_the_money_back_is_owed_no_verdict(sandbox, elsewhere, run_jobs):
    session_id = elsewhere(180)
    sandbox.refund(session_id)
    assert done(look(apply=True)) == [
        f"order {Order.objects.get().pk} is noted as paid, and as paid back"
    ]
    run_jobs()
    order = Order.objects.get()
    assert (order.status, order.refunded_cents) == (Status.FAILED, 500)
    assert sandbox.requests("gemini") == []
    assert discrepancies(look(apply=True)) == []


def test_many_sessions_take_few_queries(sandbox, elsewhere, django_assert_max_num_queries):
    for _ in range(120):
        elsewhere(180, metadata={"shop": "other"})
    with django_assert_max_num_queries(25):
        assert look().look.counts["finished"] == 120


def test_one_that_fails_does_not_keep_the_others_waiting(sandbox, elsewhere):
    bad, good = elsewhere(180), elsewhere(210)

    def refuse(execute, sql, parameters, *more):
        if sql.startswith('INSERT INTO "verdicts_order"') and bad in parameters:
            raise DatabaseError("no room")
        return execute(sql, parameters, *more)

    with connection.execute_wrapper(refuse):
        report = look(apply=True)
    assert done(report)[0] == "!it failed: see the service log"
    assert (report.repaired, report.left) == (1, 1)
    assert Order.objects.get().session_id == good
    assert look(apply=True).repaired == 1
