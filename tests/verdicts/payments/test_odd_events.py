"""Events that are signed and odd: taken or refused, never a 500, no verdict for nothing."""

import json

import pytest
from django_q.models import OrmQ

from tests.support.stripe_objects import charge_object, session_object
from tests.verdicts.payments.test_webhook_api import EVENT, post
from verdicts.core.sessions import MAX_TIMESTAMP, read_session
from verdicts.jobs.queue import GENERATE
from verdicts.models import Order, Status, StripeEvent
from verdicts.payments.accept_payment import import_session

pytestmark = pytest.mark.django_db

VALUES = (
    *(None, True, 0, -1, -500, 10**30, 1.5, float("nan"), float("-inf")),
    *("", "\0", "\ud800", "x" * 300, "-500", "CAD", "<script>", "a\r\nBcc: b@example.com"),
    *([], {}, ["full"], {"tier": {"tier": "full"}}, [[[[]]]]),
)
KINDS = {
    "checkout.session.completed": session_object,
    "checkout.session.async_payment_failed": session_object,
    "checkout.session.expired": session_object,
    "charge.refunded": charge_object,
    "refund.failed": charge_object,
}


def signed(client, number: object, kind: str, obj: object) -> int:
    body = {**EVENT, "id": f"evt_{number}", "type": kind, "data": {"object": obj}}
    return post(client, json.dumps(body).encode()).status_code


@pytest.mark.parametrize("kind", KINDS)
def test_any_value_in_any_place_is_taken_and_buys_nothing_that_was_not_paid_for(client, kind):
    usual = KINDS[kind]()
    answers = set()
    # All of them where money comes in; else every third, so that between them they get all.
    step = 1 if kind == "checkout.session.completed" else 3
    for place, field in enumerate(usual):
        for turn, value in list(enumerate(VALUES))[place % step :: step]:
            number = f"{place}_{turn}"
            odd = {**KINDS[kind](id=f"cs_test_odd{place:04}{turn:04}"), field: value}
            answers.add(signed(client, number, kind, odd))
    assert answers == {200}
    paid = Order.objects.filter(status=Status.PAID)
    for order in paid:
        assert (order.tier, order.price_cents, order.currency) == ("full", 500, "cad")
    assert OrmQ.objects.filter(key=GENERATE).count() == paid.count()
    waiting = StripeEvent.objects.filter(processed_at=None)
    assert {event.outcome for event in waiting} <= {StripeEvent.Outcome.UNKNOWN_PAYMENT}


@pytest.mark.parametrize(
    "changes",
    [
        {"amount_subtotal": -500},
        {"amount_subtotal": 499},
        {"amount_subtotal": 0},
        {"amount_subtotal": "500"},
        {"amount_subtotal": 500.0},
        {"amount_subtotal": 10**30},
        {"currency": "usd"},
        {"currency": "CAD\0"},
        {"metadata": {"tier": "full"}},
        {"metadata": {"tier": "strategy", "query_0": "Should I?"}},
    ],
    ids=str,
)
def test_what_was_not_paid_as_it_should_be_is_held_for_staff(client, changes):
    paid = session_object(**changes)
    assert signed(client, 1, "checkout.session.completed", paid) == 200
    assert Order.objects.get().status == Status.HELD
    assert not OrmQ.objects.filter(key=GENERATE).exists()


@pytest.mark.parametrize("tier", ["platinum", "", "FULL", "full\0", None, 7])
def test_an_unknown_tier_is_no_order_of_ours(client, tier):
    other = session_object(metadata={"tier": tier, "query_0": "Should I?"})
    assert signed(client, 1, "checkout.session.completed", other) == 200
    assert not Order.objects.exists()


@pytest.mark.parametrize("past", ["erased", "judged", "older", "unclear"])
@pytest.mark.parametrize(
    "changes",
    [
        *({"amount_subtotal": amount} for amount in (-500, 10**30, None)),
        *({"created": at} for at in (-1, MAX_TIMESTAMP + 1, 10**30, None)),
    ],
    ids=str,
)
def test_a_session_of_old_may_be_odd_as_well(past, changes):
    session = read_session(session_object(**changes))
    assert import_session(session, past)
    order = Order.objects.get()
    assert 0 <= order.price_cents <= 99_999_999
    assert order.status in (Status.ERASED, Status.DELIVERED)


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_body_deeper_than_a_hundred_levels_is_refused(client, opening):
    """What is read is also written, and read again from deeper in the stack."""
    closing = "]" if opening == "[" else "}"
    answers = []
    for depth in (96, 97, 900, 5_000):  # below four levels of the event
        deep = f"{opening * depth}1{closing * depth}"
        odd = session_object(id=f"cs_test_deep{depth:06}", metadata={"tier": "quick", "deep": "?"})
        body = json.dumps({**EVENT, "id": f"evt_{depth}", "data": {"object": odd}})
        answers.append(post(client, body.replace('"?"', deep).encode()).status_code)
    assert answers == [200, 400, 400, 400]
    assert StripeEvent.objects.count() == 1
