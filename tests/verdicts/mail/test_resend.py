"""Staff resend a stored email under its Message-ID; nothing is generated."""

import pytest
from django.contrib.auth.models import User

from audit.models import Action, LogEntry
from verdicts.core.errors import CannotResend
from verdicts.mail.resend import resend
from verdicts.models import Case, Delivery, Order, Status
from verdicts.review.cases import claim

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada")


def test_a_sent_email_is_sent_again_as_it_was(sandbox, delivered, ada, run_jobs):
    order = delivered("quick")
    (first,) = sandbox.messages(to="buyer@example.com")
    resend(order, who=ada, reason="lost it", seen=Delivery.objects.get().sent_at)
    run_jobs()
    first, second = sandbox.messages(to="buyer@example.com")
    assert first["message_id"] == second["message_id"]
    assert first["text"] == second["text"]
    assert Delivery.objects.get().state == Delivery.State.SENT
    assert sandbox.requests("gemini") == []
    (action,) = Action.objects.all()
    assert (action.action, action.who, action.reason) == ("resend verdict email", "ada", "lost it")
    assert LogEntry.objects.filter(entry__contains="resend verdict email").exists()


def test_concurrent_resends_send_one(sandbox, delivered, ada, run_jobs):
    order = delivered("quick")
    seen = Delivery.objects.get().sent_at
    resend(order, who=ada, reason="lost it", seen=seen)
    with pytest.raises(CannotResend, match="already being sent"):
        resend(order, who=ada, reason="lost it", seen=seen)
    run_jobs()
    with pytest.raises(CannotResend, match="after you opened"):
        resend(order, who=ada, reason="lost it", seen=seen)
    run_jobs()
    assert len(sandbox.messages(to="buyer@example.com")) == 2
    assert Action.objects.count() == 1


def test_a_failed_email_can_be_sent_again(sandbox, delivered, ada, run_jobs):
    order = delivered("quick")
    Delivery.objects.update(state=Delivery.State.FAILED, sent_at=None, attempts=8)
    resend(order, who=ada, reason="mailbox was full", seen=None)
    run_jobs()
    assert Delivery.objects.get().state == Delivery.State.SENT


def test_without_a_stored_verdict_nothing_is_sent(paid_order, ada):
    with pytest.raises(CannotResend, match="no stored verdict"):
        resend(paid_order(), who=ada, reason="why not", seen=None)
    assert not Action.objects.exists()


def test_an_erased_customer_gets_no_email(delivered, ada):
    order = delivered("quick")
    Order.objects.update(status=Status.ERASED)
    order.refresh_from_db()
    with pytest.raises(CannotResend):
        resend(order, who=ada, reason="why not", seen=Delivery.objects.get().sent_at)


def test_the_case_of_an_email_that_was_sent_again_is_closed(sandbox, delivered, ada, run_jobs):
    order = delivered("quick")
    delivery = Delivery.objects.get()
    Delivery.objects.update(state=Delivery.State.FAILED, sent_at=None)
    case = Case.objects.create(kind=Case.Kind.EMAIL, order=order, delivery=delivery)
    resend(order, who=ada, reason="mailbox was full", seen=None)
    case.refresh_from_db()
    assert (case.outcome, case.closed_by) == (Case.Outcome.RESENT, ada)


def test_a_case_claimed_by_another_member_of_staff_blocks_the_resend(sandbox, delivered, ada):
    order = delivered("quick")
    delivery = Delivery.objects.get()
    Delivery.objects.update(state=Delivery.State.FAILED, sent_at=None)
    case = Case.objects.create(kind=Case.Kind.EMAIL, order=order, delivery=delivery)
    claim(case, who=User.objects.create_user("bob"))
    with pytest.raises(CannotResend, match="bob has claimed it"):
        resend(order, who=ada, reason="mailbox was full", seen=None)
    assert Delivery.objects.get().state == Delivery.State.FAILED
