"""An order that is unpaid here may be paid at Stripe, which is asked before it is erased."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from verdicts.clients import stripe_account
from verdicts.models import Order, Status
from verdicts.payments.checkout import start_checkout

pytestmark = pytest.mark.django_db(transaction=True)

EMAIL = "buyer@example.com"


def erase(*arguments):
    out = StringIO()
    call_command("erase_customer", EMAIL, *arguments, stdout=out)
    return out.getvalue()


def ordered_two_days_ago():
    made = start_checkout(account=stripe_account(), tier="full", query="Mine?", email=EMAIL)
    Order.objects.update(created_at=timezone.now() - timedelta(days=2))
    return made.id


def test_a_payment_without_a_webhook_is_recorded_and_not_erased(sandbox, run_jobs):
    session_id = ordered_two_days_ago()
    sandbox.pay(session_id, email=EMAIL, announce=False)
    with pytest.raises(CommandError, match="paid and waiting for its verdict"):
        erase("--yes")
    run_jobs()
    assert len(sandbox.messages(to=EMAIL)) == 1
    assert "Erased 1 order" in erase("--yes")


def test_nothing_is_erased_while_stripe_is_unreachable(sandbox):
    ordered_two_days_ago()
    sandbox.fault("stripe", "unavailable", times=None)
    with pytest.raises(CommandError, match="Stripe cannot be asked whether it was paid") as refused:
        erase("--yes")
    assert refused.value.returncode == 1
    assert Order.objects.get().status == Status.CREATED
    sandbox.clear_faults()
    assert "Erased 1 order" in erase("--yes")


def test_an_order_whose_session_stripe_does_not_know_is_erased(sandbox):
    ordered_two_days_ago()
    sandbox.reset()
    assert "Erased 1 order" in erase("--yes")
