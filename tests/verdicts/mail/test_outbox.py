from datetime import timedelta

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from verdicts.core.errors import MailRefused
from verdicts.mail.kinds import BACKOFF_5_HOURS
from verdicts.mail.messages import compose
from verdicts.mail.outbox import deliver, enqueue_email
from verdicts.models import Delivery, Status, Verdict
from verdicts.tasks import deliver as deliver_task
from verdicts.tasks import fulfil_order

pytestmark = pytest.mark.django_db


@pytest.fixture
def pending_email(sandbox, paid_order) -> Delivery:
    """A pending verdict email."""
    order = paid_order("strategy")
    fulfil_order(order.pk)
    sandbox.clear_requests()
    return order.deliveries.get()


def test_the_verdict_email_contains_all_that_was_paid_for(sandbox, pending_email):
    deliver_task(pending_email.pk)
    (message,) = sandbox.messages()
    payload = Verdict.objects.get().payload
    assert message["to"] == ["buyer@example.com"]
    assert message["subject"] == f"[SANDBOX] Your Oracle verdict: {payload['verdict']}"
    for body in (message["text"], message["html"]):
        assert payload["verdict"] in body
        assert payload["strategy"]["tests"][0].split()[0] in body
        assert pending_email.order.session_id in body
        assert "SANDBOX" in body
    assert payload["summary"] in message["text"]


def test_what_was_emailed_is_kept_as_the_authoritative_original(sandbox, pending_email):
    deliver_task(pending_email.pk)
    pending_email.refresh_from_db()
    assert pending_email.state == Delivery.State.SENT
    assert pending_email.emailed_label == Verdict.objects.get().label
    assert len(pending_email.body_sha256) == 64
    assert pending_email.sent_at


def test_an_email_is_sent_once(sandbox, pending_email):
    deliver_task(pending_email.pk)
    deliver_task(pending_email.pk)
    assert len(sandbox.messages()) == 1


@pytest.mark.parametrize("fault", ["error", "unavailable", "hang_up", "hang_up_after"])
def test_every_attempt_has_the_same_message_id_and_asks_no_model(
    sandbox, pending_email, run_jobs, fault
):
    sandbox.fault("graph", fault, times=1, match="sendMail")
    deliver_task(pending_email.pk)
    pending_email.refresh_from_db()
    assert (pending_email.state, pending_email.attempts) == (Delivery.State.PENDING, 1)
    run_jobs(now=True)
    pending_email.refresh_from_db()
    assert pending_email.state == Delivery.State.SENT
    assert {message["message_id"] for message in sandbox.messages()} == {pending_email.message_id}
    assert sandbox.requests("gemini") == []


def test_after_the_last_attempt_it_is_failed_and_visible(sandbox, pending_email, run_jobs):
    sandbox.fault("graph", "error", times=None, match="sendMail")
    run_jobs(now=True)
    pending_email.refresh_from_db()
    assert (pending_email.state, pending_email.attempts) == (
        Delivery.State.FAILED,
        BACKOFF_5_HOURS.max_attempts,
    )
    assert pending_email.error == "Graph answered 500"


def test_an_expired_token_is_renewed_once(sandbox, pending_email):
    sandbox.expire_tokens()
    deliver_task(pending_email.pk)
    assert len(sandbox.messages()) == 1


def test_a_token_is_reused(sandbox, pending_email):
    deliver_task(pending_email.pk)
    enqueue_email(pending_email.order, Delivery.Kind.REFUND)
    sandbox.clear_requests()
    deliver_task(pending_email.order.deliveries.get(kind=Delivery.Kind.REFUND).pk)
    assert [r["path"].rpartition("/")[2] for r in sandbox.requests("graph")] == ["sendMail"]


def test_too_many_requests_are_waited_out(sandbox, pending_email):
    sandbox.fault("graph", "rate_limited", times=1, match="sendMail", seconds=0.1)
    deliver_task(pending_email.pk)
    assert len(sandbox.messages()) == 1


def test_a_claimed_email_is_not_sent_by_another_worker(pending_email):
    def slow(message):
        assert deliver(pending_email.pk, send=slow) is None

    assert deliver(pending_email.pk, send=slow)


def test_an_expired_claim_is_taken_over(sandbox, pending_email):
    Delivery.objects.update(
        state=Delivery.State.SENDING, due_at=timezone.now() - timedelta(seconds=1)
    )
    deliver_task(pending_email.pk)
    assert len(sandbox.messages()) == 1


def test_a_long_retry_after_of_graph_is_left_to_the_queue(sandbox, pending_email):
    sandbox.fault("graph", "rate_limited", times=1, match="sendMail", seconds=600)
    deliver_task(pending_email.pk)
    pending_email.refresh_from_db()
    assert (pending_email.state, pending_email.error) == (
        Delivery.State.PENDING,
        "Graph answered 429",
    )
    assert pending_email.due_at > timezone.now() + timedelta(seconds=500)


@pytest.mark.parametrize("seconds", [999_999_999, 1e300, float("inf")])
def test_an_endless_retry_after_is_capped(pending_email, seconds):
    def refuse(message):
        raise MailRefused("later", retry_after=seconds)

    deliver(pending_email.pk, send=refuse)
    pending_email.refresh_from_db()
    assert pending_email.due_at < timezone.now() + timedelta(hours=5)


def test_a_late_job_does_not_give_up_the_email(pending_email, monkeypatch):
    Delivery.objects.update(
        state=Delivery.State.SENDING, attempts=1, due_at=timezone.now() + timedelta(minutes=1)
    )
    # Between our claim, which fails, and the query that follows, the other worker fails.
    real = QuerySet.first

    def first(self):
        Delivery.objects.update(state=Delivery.State.PENDING)
        return real(self)

    monkeypatch.setattr(QuerySet, "first", first)
    assert deliver(pending_email.pk, send=lambda message: None) is None
    pending_email.refresh_from_db()
    assert pending_email.state == Delivery.State.PENDING


def test_an_attempt_whose_worker_died_counts_and_expires(pending_email):
    def die(message):
        raise RuntimeError("killed")

    for _ in range(BACKOFF_5_HOURS.max_attempts):
        with pytest.raises(RuntimeError):
            deliver(pending_email.pk, send=die)
        Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert deliver(pending_email.pk, send=die) is None
    pending_email.refresh_from_db()
    assert (pending_email.state, pending_email.attempts) == (
        Delivery.State.FAILED,
        BACKOFF_5_HOURS.max_attempts,
    )
    told = pending_email.order.deliveries.get(kind=Delivery.Kind.STAFF)
    assert "verdict email could not be sent" in compose(told).text


def test_a_broken_token_answer_is_a_refusal(sandbox, pending_email):
    sandbox.expire_tokens()
    sandbox.fault("graph", "broken_body", times=2, match="token")
    deliver_task(pending_email.pk)
    pending_email.refresh_from_db()
    assert (pending_email.state, pending_email.error) == (
        Delivery.State.PENDING,
        "Graph's answer contains no token",
    )


def test_without_an_address_it_fails_and_says_why(sandbox, paid_order):
    order = paid_order(customer_details={"email": None})
    fulfil_order(order.pk)
    delivery = order.deliveries.get(kind=Delivery.Kind.VERDICT)
    deliver_task(delivery.pk)
    delivery.refresh_from_db()
    order.refresh_from_db()
    assert (delivery.state, delivery.error) == (Delivery.State.FAILED, "no address to send it to")
    assert order.status == Status.DELIVERED


def test_the_held_back_email_holds_nothing_of_the_models_text(sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "contradictory")
    paid_order()
    run_jobs()
    to_customer = sandbox.messages(to="buyer@example.com")
    to_staff = sandbox.messages(to="staff@oracle.example")
    assert len(to_customer) == len(to_staff) == 1
    assert "held back" in to_customer[0]["text"]
    assert "oracle@42sisters.ai" in to_customer[0]["text"]
    assert "dimension_conflict" in to_staff[0]["text"]


def test_an_email_is_rendered_identically_each_time(pending_email):
    assert compose(pending_email) == compose(pending_email)
