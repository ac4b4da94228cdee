"""Each decision takes effect once and is recorded."""

import json

import pytest
from django.contrib.auth.models import User

from audit.models import Action, ModelCall
from verdicts.clients import ask_model, stripe_account
from verdicts.core.errors import CaseTaken, PaymentRefused, PaymentsBusy, RefundedMeanwhile
from verdicts.generation.authorize import authorize
from verdicts.generation.fulfil import fulfil
from verdicts.models import Case, Delivery, Order, Status
from verdicts.payments import refunds as refunding
from verdicts.payments.checkout import start_checkout
from verdicts.payments.stripe_sync import is_unpaid
from verdicts.review.case_decisions import OUTCOMES, decide

pytestmark = pytest.mark.django_db
Outcome = Case.Outcome


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def rejected(sandbox, run_jobs) -> Case:
    """A rejected order, bought at the sandbox so that it can be refunded there."""
    session = start_checkout(account=stripe_account(), tier="full", query="A perpetuum mobile?")
    sandbox.pay(session.id, email="buyer@example.com", announce=False)
    is_unpaid(Order.objects.get(), account=stripe_account())
    sandbox.fault("gemini", "contradictory")
    run_jobs()
    sandbox.clear_requests()
    return Case.objects.get()


def refunds(sandbox) -> list[dict]:
    return [one for one in sandbox.requests("stripe") if one["path"].endswith("/refunds")]


def act(case: Case, outcome: Case.Outcome, who: User, note: str = "because") -> Case:
    return decide(case, outcome, who=who, note=note, account=stripe_account())


def test_a_refund_is_requested_once_and_the_customer_notified(
    ask, sandbox, rejected, ada, run_jobs
):
    act(rejected, Outcome.REFUNDED, ada)
    with pytest.raises(CaseTaken, match="already"):
        act(rejected, Outcome.REFUNDED, ada)
    run_jobs()
    (request,) = refunds(sandbox)
    order = Order.objects.get()
    assert request["headers"]["idempotency-key"] == f"refund-{order.token}"
    assert order.refunded_at
    assert order.refunded_cents == 500
    assert [m["subject"] for m in sandbox.messages(to="buyer@example.com")][-1].endswith("refunded")
    assert {action.action for action in Action.objects.all()} == {"refund", "case refunded"}


def test_when_stripe_is_unreachable_the_case_stays_open(sandbox, rejected, ada):
    sandbox.fault("stripe", "unavailable", times=None)
    with pytest.raises(PaymentsBusy):
        act(rejected, Outcome.REFUNDED, ada)
    rejected.refresh_from_db()
    assert rejected.closed_at is None
    assert not Order.objects.get().refunded_at
    sandbox.clear_faults()
    act(rejected, Outcome.REFUNDED, ada)
    assert Order.objects.get().refunded_at


def test_an_authorized_generation_has_another_seed_and_is_delivered(
    ask, sandbox, rejected, ada, run_jobs
):
    act(rejected, Outcome.AUTHORIZED, ada)
    assert Order.objects.get().status == Status.PAID
    run_jobs()
    order = Order.objects.get()
    assert (order.status, order.authorization) == (Status.DELIVERED, 2)
    first, second = ModelCall.objects.order_by("pk")
    assert first.sent["seed"] != second.sent["seed"]
    assert ask(order.session_id).status_code == 200
    assert sandbox.messages(to="buyer@example.com")[-1]["subject"].startswith(
        "[SANDBOX] Your Oracle"
    )
    assert "authorize generation 2" in {action.action for action in Action.objects.all()}


def test_its_regeneration_uses_the_seed_of_the_delivered_verdict(
    ask, sandbox, rejected, ada, run_jobs
):
    act(rejected, Outcome.AUTHORIZED, ada)
    run_jobs()
    order = Order.objects.get()
    order.verdicts.get().cachedverdict_set.all().delete()
    ask(order.session_id)
    seeds = [
        json.loads(one["body"])["generationConfig"]["seed"] for one in sandbox.requests("gemini")
    ]
    assert seeds[0] == seeds[1]


def test_a_second_rejection_notifies_customer_and_staff_again(sandbox, rejected, ada, run_jobs):
    sandbox.fault("gemini", "contradictory")
    act(rejected, Outcome.AUTHORIZED, ada)
    run_jobs()
    assert Order.objects.get().status == Status.REJECTED
    assert len(sandbox.messages(to="buyer@example.com")) == 2
    assert len(sandbox.messages(to="staff@oracle.example")) == 2
    assert Case.objects.filter(closed_at=None).count() == 1


def test_a_refunded_order_cannot_be_authorized(sandbox, rejected, ada):
    Order.objects.update(refunded_at=rejected.opened_at)
    with pytest.raises(CaseTaken, match="has changed"):
        act(rejected, Outcome.AUTHORIZED, ada)
    rejected.refresh_from_db()
    assert rejected.closed_at is None
    assert not Action.objects.exists()


def test_a_held_payment_can_be_released(sandbox, paid_order, ada, run_jobs):
    paid_order(currency="usd")
    case = Case.objects.get()
    act(case, Outcome.RELEASED, ada)
    run_jobs()
    assert Order.objects.get().status == Status.DELIVERED


def test_an_email_is_resent_with_its_original_message_id(sandbox, delivered, ada, run_jobs):
    order = delivered("quick")
    delivery = Delivery.objects.get()
    Delivery.objects.update(state=Delivery.State.FAILED)
    case = Case.objects.create(kind=Case.Kind.EMAIL, order=order, delivery=delivery)
    act(case, Outcome.RESENT, ada)
    run_jobs()
    assert {m["message_id"] for m in sandbox.messages()} == {delivery.message_id}
    assert Delivery.objects.get().state == Delivery.State.SENT
    assert sandbox.requests("gemini") == []


def test_an_uncertain_email_can_be_resent_by_staff(sandbox, missed, ask, ada, run_jobs):
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    Delivery.objects.filter(kind=Delivery.Kind.DIVERGENCE).update(state=Delivery.State.UNCERTAIN)
    notice = Delivery.objects.get(kind=Delivery.Kind.DIVERGENCE)
    before = len(sandbox.messages(to=order.email))
    Case.objects.all().delete()
    case = Case.objects.create(kind=Case.Kind.EMAIL, order=order, delivery=notice)
    act(case, Outcome.RESENT, ada)
    run_jobs()
    sent = sandbox.messages(to=order.email)
    assert len(sent) == before + 1
    assert sent[-1]["message_id"] == notice.message_id
    assert Delivery.objects.get(pk=notice.pk).state == Delivery.State.SENT


@pytest.mark.parametrize("outcome", [Outcome.RELEASED, Outcome.RESENT])
def test_an_outcome_of_another_kind_is_refused(rejected, ada, outcome):
    with pytest.raises(CaseTaken, match="cannot be"):
        act(rejected, outcome, ada)


def test_every_kind_has_outcomes():
    assert set(OUTCOMES) == set(Case.Kind)


def test_the_refunded_amount_is_the_one_that_stripe_reports(sandbox, paid_order, ada, monkeypatch):
    paid_order(currency="usd")  # held
    case = Case.objects.get()
    answer = {"status": "succeeded", "amount": 300}
    monkeypatch.setattr(refunding, "refund", lambda *_, **__: answer)
    act(case, Outcome.REFUNDED, ada)
    assert Order.objects.get().refunded_cents == 300


def test_a_failed_refund_leaves_the_case_open(sandbox, rejected, ada, monkeypatch):
    answer = {"status": "failed", "amount": 500}
    monkeypatch.setattr(refunding, "refund", lambda *_, **__: answer)
    with pytest.raises(PaymentRefused, match="could not refund it"):
        act(rejected, Outcome.REFUNDED, ada)
    rejected.refresh_from_db()
    assert rejected.closed_at is None
    assert Order.objects.get().refunded_at is None


def test_a_refund_made_in_stripes_dashboard_closes_the_case(sandbox, rejected, ada):
    order = Order.objects.get()
    sandbox.refund(order.session_id)
    act(rejected, Outcome.REFUNDED, ada)
    assert Order.objects.get().refunded_at
    assert rejected.order.cases.get().outcome == Outcome.REFUNDED


def test_a_case_closed_by_another_user_during_the_refund_reports_the_refund(
    sandbox, rejected, ada, monkeypatch
):
    def refund_after_conflict(*_, **__):
        Case.objects.update(closed_at=rejected.opened_at, outcome=Outcome.CORRECT, closed_by=ada)
        return {"status": "succeeded", "amount": 500}

    monkeypatch.setattr(refunding, "refund", refund_after_conflict)
    with pytest.raises(RefundedMeanwhile, match=r"was refunded\. ada has already closed it"):
        act(rejected, Outcome.REFUNDED, ada)
    assert Order.objects.get().refunded_at


def test_a_late_answer_does_not_count_as_the_authorized_generation(
    sandbox, paid_order, ada, run_jobs
):
    """The order is rejected and authorized again while the first call is stalled."""
    order = paid_order("full")

    def stall(request):
        Order.objects.update(status=Status.REJECTED)
        authorize(Order.objects.get(), who=ada, reason="again")
        Order.objects.update(status=Status.GENERATING, attempts=1)
        return ask_model(request)

    assert fulfil(order.pk, model="gemini-2.5-flash", ask=stall) is None
    assert Order.objects.get().status == Status.GENERATING
    assert not order.verdicts.exists()


def test_a_sent_email_cannot_be_resent_by_its_case(sandbox, delivered, ada):
    order = delivered("quick")
    delivery = Delivery.objects.get()
    case = Case.objects.create(kind=Case.Kind.EMAIL, order=order, delivery=delivery)
    with pytest.raises(CaseTaken, match="has changed"):
        act(case, Outcome.RESENT, ada)
