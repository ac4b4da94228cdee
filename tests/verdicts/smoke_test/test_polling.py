"""Failure messages for missing workers, a failing model and failing mail."""

import pytest

from verdicts.models import Delivery, Order, Status
from verdicts.smoke_test.failures import Failed
from verdicts.smoke_test.polling import wait_for_email, wait_for_final_status

pytestmark = pytest.mark.django_db

EMAIL = Delivery.objects.filter(kind=Delivery.Kind.VERDICT)


def test_an_order_without_attempts_asks_for_workers(run, bought):
    with pytest.raises(Failed) as failed:
        wait_for_final_status(run(), bought())
    assert failed.value.seen.endswith("is paid after 0 attempts")
    assert "Q_CLUSTER_NAME=generate" in failed.value.todo


def test_an_order_with_attempts_asks_for_the_model(run, bought, sandbox, run_jobs):
    order = bought()
    sandbox.fault("gemini", "bad_key")
    run_jobs()
    with pytest.raises(Failed) as failed:
        wait_for_final_status(run(), order)
    assert "is paid after 1 attempts: " in failed.value.seen
    assert "does the model respond?" in failed.value.todo


@pytest.mark.parametrize("status", [Status.DELIVERED, Status.REJECTED, Status.FAILED, Status.HELD])
def test_a_final_order_is_returned(run, bought, status):
    order = bought()
    Order.objects.update(status=status)
    assert wait_for_final_status(run(), order).status == status


def test_an_email_without_attempts_asks_for_workers(run, delivered):
    delivered()
    Delivery.objects.update(state=Delivery.State.PENDING, attempts=0)
    with pytest.raises(Failed) as failed:
        wait_for_email(run(), "the email", EMAIL)
    assert failed.value.seen == "pending: untried"
    assert "Q_CLUSTER_NAME=post" in failed.value.todo


def test_an_email_with_attempts_asks_for_the_mail_server(run, bought, sandbox, run_jobs):
    bought()
    sandbox.fault("graph", "error")
    run_jobs()
    with pytest.raises(Failed) as failed:
        wait_for_email(run(), "the email", EMAIL)
    assert failed.value.seen == "pending: Graph answered 500"
    assert "is the mail server up?" in failed.value.todo


@pytest.mark.parametrize("state", [Delivery.State.FAILED, Delivery.State.UNCERTAIN])
def test_a_failed_email_is_not_waited_for(run, delivered, state):
    delivered()
    Delivery.objects.update(state=state, error="Graph answered 403")
    with pytest.raises(Failed) as failed:
        wait_for_email(run(), "the email", EMAIL)
    assert failed.value.seen.endswith("Graph answered 403")
    assert "repair the mail" in failed.value.todo


def test_an_email_that_was_never_queued(run):
    with pytest.raises(Failed, match="never queued"):
        wait_for_email(run(), "the email", EMAIL)


def test_the_email_is_checked_in_the_mailbox(run, delivered, sandbox):
    delivered(label="GREEN")
    sent = wait_for_email(run(sandbox=sandbox.url), "the email", EMAIL)
    assert "verdict: GREEN" in sent.check("bakery", "GREEN")
    with pytest.raises(Failed, match="an email with 'ferry'"):
        sent.check("ferry")
    with pytest.raises(Failed, match="and without it"):
        sent.check("bakery", "RED")


def test_an_email_that_is_not_in_the_mailbox(run, delivered, sandbox):
    delivered()
    Delivery.objects.update(message_id="<another@oracle.example>")
    with pytest.raises(Failed, match="none with its Message-ID"):
        wait_for_email(run(sandbox=sandbox.url), "the email", EMAIL)


def test_without_a_mailbox_a_sent_email_is_enough(run, delivered):
    delivered()
    assert wait_for_email(run(), "the email", EMAIL).check("x") == "sent to buyer@example.com"
