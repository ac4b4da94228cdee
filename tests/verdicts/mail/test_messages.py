import pytest

from verdicts.mail.kinds import KINDS, TO_CUSTOMERS
from verdicts.mail.messages import compose
from verdicts.models import Delivery, Order, Verdict

pytestmark = pytest.mark.django_db


def message(order: Order, kind: Delivery.Kind, **more):
    return compose(Delivery(order=order, kind=kind, message_id=f"<{kind}@oracle>", **more))


@pytest.mark.parametrize("kind", [Delivery.Kind.HELD_BACK, Delivery.Kind.REFUND])
def test_a_customer_email_states_the_charge_and_links_to_the_page(paid_order, kind):
    order = paid_order("full")
    order.refunded_cents = 500
    made = message(order, kind)
    for text in (made.text, made.html):
        assert "CA$5.00" in text
        assert f"session_id={order.session_id}" in text
        assert "oracle@42sisters.ai" in text
        assert "SANDBOX" in text


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(TO_CUSTOMERS)))
def test_emails_to_staff_hold_no_session_id(paid_order, kind):
    order = paid_order("full")
    made = message(order, Delivery.Kind(kind), about="something")
    assert order.session_id not in made.text + made.html


def test_model_text_is_escaped_in_html_and_plain_in_text(sandbox, paid_order, run_jobs):
    order = paid_order("quick")
    run_jobs()
    Verdict.objects.update(payload={"verdict": "GREEN", "summary": "<b>Go</b> & see, it's fine."})
    made = message(order, Delivery.Kind.VERDICT)
    assert "&lt;b&gt;Go&lt;/b&gt; &amp; see" in made.html
    assert "<b>Go</b> & see, it's fine." in made.text
