"""`POST /send-verdict-email` sends the approved, stored verdict once."""

import pytest

from verdicts.models import Delivery, Order, Status, Verdict
from verdicts.tasks import fulfil_order

pytestmark = pytest.mark.django_db
TOKEN = {"authorization": "Bearer sandbox-service-token"}


@pytest.fixture
def send(client):
    def post(session_id: object):
        body = {"session_id": session_id}
        return client.post(
            "/send-verdict-email", body, content_type="application/json", headers=TOKEN
        )

    return post


def test_a_pending_email_is_sent_once(send, sandbox, paid_order, run_jobs):
    order = paid_order("quick")
    fulfil_order(order.pk)
    first, second = send(order.session_id), send(order.session_id)
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json() == second.json()
    run_jobs()
    (message,) = sandbox.messages(to="buyer@example.com")
    assert message["message_id"] == first.json()["message_id"]


def test_a_refused_email_is_502_and_stays_pending(send, sandbox, paid_order, run_jobs):
    order = paid_order("quick")
    fulfil_order(order.pk)
    sandbox.fault("graph", "unavailable", times=1, match="sendMail")
    answer = send(order.session_id)
    assert (answer.status_code, answer.json()["type"]) == (502, "mail-refused")
    assert answer["Retry-After"] == "1"
    run_jobs(now=True)
    assert len(sandbox.messages(to="buyer@example.com")) == 1


def test_a_failed_email_is_retried_with_its_message_id(send, sandbox, delivered):
    order = delivered("quick")
    Delivery.objects.update(state=Delivery.State.FAILED, attempts=8, due_at=None)
    assert send(order.session_id).status_code == 202
    assert len({message["message_id"] for message in sandbox.messages()}) == 1
    assert Delivery.objects.get().state == Delivery.State.SENT


def test_nothing_approved_is_409(send, sandbox, paid_order, run_jobs):
    sandbox.fault("gemini", "contradictory")
    order = paid_order("full")
    run_jobs()
    sent = len(sandbox.messages())
    answer = send(order.session_id)
    assert (answer.status_code, answer.json()["type"]) == (409, "nothing-approved")
    assert len(sandbox.messages()) == sent


def test_an_erased_order_has_nothing_to_send(send, delivered):
    order = delivered("quick")
    Order.objects.update(status=Status.ERASED)
    assert send(order.session_id).status_code == 409


def test_it_never_asks_the_model(send, sandbox, missed):
    order = missed("quick")
    assert send(order.session_id).status_code == 200
    assert sandbox.requests("gemini") == []
    assert Verdict.objects.count() == 1


@pytest.mark.parametrize(
    "session_id", [None, "", "x", 5, "cs_test_\0aaaaaaaa", ["cs_test_a1B2c3D4"]]
)
def test_an_invalid_body_gets_field_errors(send, session_id):
    answer = send(session_id)
    assert answer.status_code == 400
    assert answer.json()["errors"]["session_id"]


def test_an_unknown_session_is_404_and_stripe_is_not_asked(send, sandbox):
    assert send("cs_test_nobodyKnows1").status_code == 404
    assert sandbox.requests("stripe") == []


def test_repeated_requests_use_up_no_attempts(send, sandbox, paid_order):
    order = paid_order("quick")
    fulfil_order(order.pk)
    sandbox.fault("graph", "unavailable", times=None, match="sendMail")
    delays = {send(order.session_id).status_code for _ in range(12)}
    assert delays == {502}
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (Delivery.State.PENDING, 1)


def test_answers_are_private(send, delivered):
    assert send(delivered("quick").session_id)["Cache-Control"] == "private, no-cache"


def test_a_changed_site_url_sends_nothing_again(send, sandbox, delivered, settings):
    order = delivered("quick")
    settings.SITE_URL = "https://moved.example"
    answer = send(order.session_id)
    (message,) = sandbox.messages()
    assert (answer.status_code, answer.json()["message_id"]) == (200, message["message_id"])
