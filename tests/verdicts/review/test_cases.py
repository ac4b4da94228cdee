"""A case is opened once, claimed by one user at a time and closed by one user."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from audit.models import Action
from verdicts.clients import ask_model
from verdicts.core.errors import CaseTaken
from verdicts.generation.fulfil import fulfil
from verdicts.mail.outbox import deliver, reopen
from verdicts.models import Case, Delivery, Order, Status
from verdicts.review.cases import claim, close, close_all, unclaim

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def bob(db) -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def rejected(sandbox, paid_order, run_jobs):
    def make() -> Case:
        sandbox.fault("gemini", "contradictory")
        order = paid_order("full")
        run_jobs()
        return Case.objects.get(order=order)

    return make


def test_a_rejection_opens_a_case_with_its_crosscheck(rejected):
    case = rejected()
    assert case.kind == Case.Kind.REJECTED
    assert not case.crosscheck.approved
    assert (case.closed_at, case.claimed_by) == (None, None)


def test_a_rejected_regeneration_opens_a_case(ask, sandbox, missed):
    order = missed("full")
    sandbox.fault("gemini", "contradictory")
    ask(order.session_id)
    assert Case.objects.get().crosscheck.kind == "regen"


def test_a_failed_order_opens_a_case(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "bad_request")
    paid_order()
    run_jobs()
    assert Case.objects.get().kind == Case.Kind.FAILED


def test_a_held_payment_opens_a_case(paid_order):
    paid_order(amount_total=1, currency="usd")
    assert Order.objects.get().status == Status.HELD
    assert Case.objects.get().kind == Case.Kind.HELD


def test_a_failed_email_opens_a_case(sandbox, paid_order, run_jobs):
    paid_order(customer_details={"email": None})
    run_jobs()
    case = Case.objects.get()
    assert (case.kind, case.delivery.kind) == (Case.Kind.EMAIL, Delivery.Kind.VERDICT)


def test_a_delivered_order_opens_no_case(delivered):
    delivered("full")
    assert not Case.objects.exists()


def test_a_claimed_case_cannot_be_claimed_or_closed_by_another_user(rejected, ada, bob):
    case = claim(rejected(), who=ada)
    with pytest.raises(CaseTaken, match="ada has claimed it until"):
        claim(case, who=bob)
    with pytest.raises(CaseTaken, match="ada has claimed it until"):
        close(case, Case.Outcome.CORRECT, who=bob, note="mine")
    assert not Action.objects.exists()
    claim(case, who=ada)  # renewing a claim is no conflict


def test_an_expired_or_released_claim_is_available(rejected, ada, bob):
    case = claim(rejected(), who=ada)
    Case.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    claim(case, who=bob)
    assert not unclaim(case, who=ada)
    assert unclaim(case, who=bob)
    assert claim(case, who=ada).claimed_by == ada


def test_a_case_is_closed_once_and_recorded(rejected, ada, bob):
    case = close(rejected(), Case.Outcome.FALSE, who=ada, note="it was fine")
    with pytest.raises(CaseTaken, match="ada has already closed it"):
        close(case, Case.Outcome.CORRECT, who=bob, note="no")
    case.refresh_from_db()
    assert (case.outcome, case.note, case.closed_by) == (Case.Outcome.FALSE, "it was fine", ada)
    action = Action.objects.get()
    assert (action.action, action.who, action.reason) == ("case false", "ada", "it was fine")


def test_closing_many_skips_those_claimed_by_others(rejected, ada, bob):
    cases = [rejected() for _ in range(3)]
    claim(cases[1], who=bob)
    assert close_all(Case.objects.all(), Case.Outcome.CORRECT, who=ada, note="an outage") == 2
    assert Case.objects.get(closed_at=None) == cases[1]


def test_an_email_that_fails_again_has_one_open_case(sandbox, paid_order, run_jobs):
    paid_order(customer_details={"email": None})
    run_jobs()
    delivery = Delivery.objects.get(kind=Delivery.Kind.VERDICT)
    reopen(delivery)
    deliver(delivery.pk, send=lambda message: None)
    delivery.refresh_from_db()
    assert delivery.state == Delivery.State.FAILED
    assert Case.objects.count() == 1


def test_repeated_rejections_of_a_regeneration_open_one_case(ask, sandbox, missed, ada):
    order = missed("full")
    for _ in range(3):
        Order.objects.update(regen_at=None)
        sandbox.fault("gemini", "contradictory")
        ask(order.session_id)
        Case.objects.update(closed_at=timezone.now(), outcome=Case.Outcome.CORRECT)
    assert Case.objects.count() == 1


def test_an_order_refunded_during_generation_opens_no_case(sandbox, paid_order):
    order = paid_order("full")

    def ask_and_refund(request):
        Order.objects.update(refunded_at=timezone.now())
        return ask_model(request)

    sandbox.fault("gemini", "contradictory")
    fulfil(order.pk, model="gemini-2.5-flash", ask=ask_and_refund)
    assert Order.objects.get().status == Status.FAILED
    assert not Case.objects.exists()


def test_a_contacted_case_can_still_be_decided(rejected, ada, bob):
    case = close(rejected(), Case.Outcome.CONTACTED, who=ada, note="contacted")
    assert not case.is_decided
    case = close(case, Case.Outcome.CORRECT, who=bob, note="no answer")
    assert case.is_decided
    with pytest.raises(CaseTaken, match="bob has already closed it"):
        close(case, Case.Outcome.FALSE, who=ada, note="still")


def test_characters_that_databases_reject_are_removed_from_notes(rejected, ada):
    assert close(rejected(), Case.Outcome.FALSE, who=ada, note="a\x00b\ud800").note == "ab"
