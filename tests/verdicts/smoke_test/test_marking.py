import pytest

from audit.models import Action, LogEntry
from tests.support.stripe_objects import session_object
from verdicts.clients import stripe_account
from verdicts.core.sessions import read_session
from verdicts.models import Order, Status
from verdicts.payments.accept_payment import record_session
from verdicts.payments.checkout import start_checkout
from verdicts.smoke_test.marking import mark_as_smoke

pytestmark = pytest.mark.django_db


def test_an_unpaid_order_is_marked_on_record(sandbox):
    session = start_checkout(account=stripe_account(), tier="quick", query="A ferry?")
    order = mark_as_smoke(session.id, query="A ferry?", who="ada")
    assert order.smoke
    action = Action.objects.get()
    assert (action.action, action.who, action.session_id) == ("mark as smoke", "ada", session.id)
    assert '"event":"staff_action"' in LogEntry.objects.get().entry


def test_a_paid_order_is_never_marked(paid_order):
    order = paid_order("quick")
    assert mark_as_smoke(order.session_id, query=order.query, who="ada") is None
    assert not Order.objects.get().smoke
    assert not Action.objects.exists()


@pytest.mark.parametrize("status", [one for one in Status if one != Status.CREATED])
def test_only_a_new_order_is_marked(sandbox, status):
    session = start_checkout(account=stripe_account(), tier="quick", query="A ferry?")
    Order.objects.update(status=status)
    assert mark_as_smoke(session.id, query="A ferry?", who="ada") is None
    assert not Order.objects.get().smoke


def test_an_unknown_session_is_not_marked(db):
    assert mark_as_smoke("cs_test_nobodyKnows1", query="A ferry?", who="ada") is None


def test_no_customer_can_mark_an_order(client, sandbox):
    body = {"tier": "quick", "query": "A ferry?", "smoke": True}
    response = client.post("/api/checkout", body, content_type="application/json")
    assert response.status_code == 201
    metadata = {"tier": "quick", "query_0": "A ferry?", "smoke": "true"}
    record_session(read_session(session_object(metadata=metadata, amount_subtotal=200)))
    assert list(Order.objects.values_list("smoke", flat=True)) == [False, False]
