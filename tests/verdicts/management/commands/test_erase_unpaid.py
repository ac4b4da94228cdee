"""What is unpaid here may be paid at Stripe: nothing is erased before that is known."""

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


def test_a_payment_that_nobody_has_told_us_of_is_noted_not_erased(sandbox, run_jobs):
    session_id = ordered_two_days_ago()
    sandbox.pay(session_id, email=EMAIL, announce=False)
    with pytest.raises(CommandError, match="paid and waiting for its verdict"):
        erase("--yes")
    run_jobs()
    assert len(sandbox.messages(to=EMAIL)) == 1
    assert "Erased 1 order" in erase("--yes")


def test_what_stripe_cannot_be_asked_about_is_not_erased(sandbox):
    ordered_two_days_ago()
    sandbox.fault("stripe", "unavailable", times=None)
    with pytest.raises(CommandError, match="Stripe cannot be asked whether it was paid") as refused:
        erase("--yes")
    assert refused.value.returncode == 1
    assert Order.objects.get().status == Status.CREATED
    sandbox.clear_faults()
    assert "Erased 1 order" in erase("--yes")


def test_what_stripe_has_forgotten_is_erased(sandbox):
    ordered_two_days_ago()
    sandbox.reset()
    assert "Erased 1 order" in erase("--yes")
