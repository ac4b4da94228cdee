"""What needs a person is one case, which one person at a time has and one person closes."""

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


def test_a_rejected_regeneration_opens_one_too(ask, sandbox, missed):
    order = missed("full")
    sandbox.fault("gemini", "contradictory")
    ask(order.session_id)
    assert Case.objects.get().crosscheck.kind == "regen"


def test_a_failed_order_opens_one(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "bad_request")
    paid_order()
    run_jobs()
    assert Case.objects.get().kind == Case.Kind.FAILED


def test_a_held_payment_opens_one(paid_order):
    paid_order(amount_total=1, currency="usd")
    assert Order.objects.get().status == Status.HELD
    assert Case.objects.get().kind == Case.Kind.HELD


def test_an_email_that_was_given_up_opens_one(sandbox, paid_order, run_jobs):
    paid_order(customer_details={"email": None})
    run_jobs()
    case = Case.objects.get()
    assert (case.kind, case.delivery.kind) == (Case.Kind.EMAIL, Delivery.Kind.VERDICT)


def test_what_went_well_opens_none(delivered):
    delivered("full")
    assert not Case.objects.exists()


def test_two_people_do_not_work_on_one(rejected, ada, bob):
    case = claim(rejected(), who=ada)
    with pytest.raises(CaseTaken, match="ada has claimed it until"):
        claim(case, who=bob)
    with pytest.raises(CaseTaken, match="ada has claimed it until"):
        close(case, Case.Outcome.CORRECT, who=bob, note="mine")
    assert not Action.objects.exists()
    claim(case, who=ada)  # her own again is no conflict


def test_a_claim_that_expired_or_was_given_back_is_free(rejected, ada, bob):
    case = claim(rejected(), who=ada)
    Case.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    claim(case, who=bob)
    assert not unclaim(case, who=ada)
    assert unclaim(case, who=bob)
    assert claim(case, who=ada).claimed_by == ada


def test_a_case_is_closed_once_and_on_record(rejected, ada, bob):
    case = close(rejected(), Case.Outcome.FALSE, who=ada, note="it was fine")
    with pytest.raises(CaseTaken, match="ada has already closed it"):
        close(case, Case.Outcome.CORRECT, who=bob, note="no")
    case.refresh_from_db()
    assert (case.outcome, case.note, case.closed_by) == (Case.Outcome.FALSE, "it was fine", ada)
    action = Action.objects.get()
    assert (action.action, action.who, action.reason) == ("case false", "ada", "it was fine")


def test_many_are_closed_at_once_but_for_those_that_somebody_has(rejected, ada, bob):
    cases = [rejected() for _ in range(3)]
    claim(cases[1], who=bob)
    assert close_all(Case.objects.all(), Case.Outcome.CORRECT, who=ada, note="a storm") == 2
    assert Case.objects.get(closed_at=None) == cases[1]


def test_an_email_that_fails_again_while_its_case_is_open_has_one_case(
    sandbox, paid_order, run_jobs
):
    paid_order(customer_details={"email": None})
    run_jobs()
    delivery = Delivery.objects.get(kind=Delivery.Kind.VERDICT)
    reopen(delivery)
    deliver(delivery.pk, send=lambda message: None)
    delivery.refresh_from_db()
    assert delivery.state == Delivery.State.FAILED
    assert Case.objects.count() == 1


def test_a_rejected_regeneration_needs_a_person_once(ask, sandbox, missed, ada):
    order = missed("full")
    for _ in range(3):
        Order.objects.update(regen_at=None)
        sandbox.fault("gemini", "contradictory")
        ask(order.session_id)
        Case.objects.update(closed_at=timezone.now(), outcome=Case.Outcome.CORRECT)
    assert Case.objects.count() == 1


def test_an_order_that_was_refunded_while_it_was_judged_needs_nobody(sandbox, paid_order):
    order = paid_order("full")

    def ask_and_refund(request):
        Order.objects.update(refunded_at=timezone.now())
        return ask_model(request)

    sandbox.fault("gemini", "contradictory")
    fulfil(order.pk, model="gemini-2.5-flash", ask=ask_and_refund)
    assert Order.objects.get().status == Status.FAILED
    assert not Case.objects.exists()


def test_a_customer_who_was_written_to_may_still_be_paid_back(rejected, ada, bob):
    case = close(rejected(), Case.Outcome.CONTACTED, who=ada, note="wrote to them")
    assert not case.is_decided
    case = close(case, Case.Outcome.CORRECT, who=bob, note="no answer")
    assert case.is_decided
    with pytest.raises(CaseTaken, match="bob has already closed it"):
        close(case, Case.Outcome.FALSE, who=ada, note="still")


def test_a_note_that_no_database_takes_is_kept_as_far_as_one_does(rejected, ada):
    assert close(rejected(), Case.Outcome.FALSE, who=ada, note="a\x00b\ud800").note == "ab"
