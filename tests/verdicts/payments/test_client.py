import pytest

from verdicts.core.errors import PaymentRefused, PaymentsBusy
from verdicts.payments.client import Account, list_refunds, list_sessions

SINCE = 1_000


@pytest.fixture
def account(sandbox) -> Account:
    return Account("sk_test_1", sandbox.url)


def test_a_list_is_read_page_by_page_to_the_end(sandbox, account):
    made = [
        sandbox.create_session(created=SINCE + n, payment_status="paid")["id"] for n in range(201)
    ]
    sandbox.create_session(created=SINCE - 1, payment_status="paid")
    sandbox.create_session(created=SINCE)  # not complete
    pages = list(list_sessions(account, since=SINCE, seconds=60))
    assert [len(page) for page in pages] == [100, 100, 1]
    assert [raw["id"] for page in pages for raw in page] == made[::-1]
    assert isinstance(pages[0][0]["metadata"], dict)


def test_an_empty_list_is_one_empty_page(account):
    assert list(list_sessions(account, since=SINCE, seconds=60)) == [[]]


def test_refunds_come_with_their_charges(sandbox, account):
    made = sandbox.create_session(payment_status="paid", amount_total=500)
    sandbox.refund(made["id"], amount=200)
    ((refund,),) = list_refunds(account, since=SINCE, seconds=60)
    assert (refund["amount"], refund["charge"]["amount_refunded"]) == (200, 200)
    assert refund["charge"]["payment_intent"] == made["payment_intent"]


def test_a_list_has_a_total_deadline(sandbox, account):
    sandbox.fault("stripe", "dribble")
    with pytest.raises(PaymentsBusy, match="no answer from Stripe"):
        list(list_sessions(account, since=SINCE, seconds=0.3))
    with pytest.raises(PaymentsBusy, match="was not complete"):
        list(list_sessions(account, since=SINCE, seconds=0))


def test_a_refused_key_is_not_an_outage(sandbox):
    with pytest.raises(PaymentRefused, match="refused our key"):
        list(list_sessions(Account("sk_bad", sandbox.url), since=SINCE, seconds=60))
