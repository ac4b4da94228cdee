import pytest

from tests.verdicts.services.looking import done, gaps, look
from verdicts.models import Delivery, Order, Status
from verdicts.services.erase import erase

pytestmark = pytest.mark.django_db


@pytest.fixture
def bought(sandbox, elsewhere, run_jobs) -> str:
    session_id = elsewhere(60)
    look(apply=True)
    run_jobs()
    return session_id


def test_a_refund_that_is_unknown_here_is_noted_once(sandbox, bought, run_jobs):
    sandbox.refund(bought)
    assert gaps(look()) == [("refund", "CA$5.00 paid back at Stripe, CA$0.00 of it noted here")]
    assert done(look(apply=True)) == ["noted as refunded"]
    order = Order.objects.get()
    assert (order.status, order.refunded_cents) == (Status.DELIVERED, 500)
    assert order.refunded_at
    run_jobs()
    assert [one["subject"] for one in sandbox.messages()][-1].endswith("payment was refunded")
    assert gaps(look(apply=True)) == []
    assert Delivery.objects.filter(kind="refund").count() == 1


def test_a_refund_in_part_is_noted_and_the_rest_later(sandbox, bought):
    sandbox.refund(bought, amount=200)
    assert done(look(apply=True)) == ["noted as refunded in part"]
    assert gaps(look()) == []
    sandbox.refund(bought)
    assert gaps(look()) == [("refund", "CA$5.00 paid back at Stripe, CA$2.00 of it noted here")]
    look(apply=True)
    assert Order.objects.get().refunded_cents == 500


def test_a_refund_of_somebody_else_is_no_gap(sandbox, elsewhere):
    sandbox.refund(elsewhere(60, metadata={}))
    assert gaps(look()) == []


def test_a_refund_to_an_erased_customer_is_booked_and_nobody_is_written_to(
    sandbox, bought, run_jobs
):
    erase(Order.objects.get(), who="Ada", reason="asked")
    sandbox.refund(bought)
    assert done(look(apply=True)) == ["noted as erased, refunded"]
    order = Order.objects.get()
    assert (order.status, order.email, order.refunded_cents) == (Status.ERASED, "", 500)
    assert run_jobs() == []
    assert gaps(look(apply=True)) == []
