"""Staff decisions on cases: the effect of each outcome, and closing the case, exactly once."""

from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from verdicts.core.errors import CaseTaken, RefundedMeanwhile
from verdicts.generation.authorize import authorize, release
from verdicts.jobs import queue
from verdicts.mail.outbox import reopen
from verdicts.models import Case
from verdicts.payments.client import Account
from verdicts.payments.refunds import refund_order
from verdicts.review.cases import claim, close

Outcome = Case.Outcome

# The outcomes that the console offers for each kind of case.
OUTCOMES: Final[dict[str, tuple[Case.Outcome, ...]]] = {
    Case.Kind.REJECTED: (
        Outcome.REFUNDED,
        Outcome.CONTACTED,
        Outcome.AUTHORIZED,
        Outcome.CORRECT,
        Outcome.FALSE,
    ),
    Case.Kind.FAILED: (Outcome.REFUNDED, Outcome.CONTACTED, Outcome.AUTHORIZED),
    Case.Kind.HELD: (Outcome.REFUNDED, Outcome.CONTACTED, Outcome.RELEASED),
    Case.Kind.EMAIL: (Outcome.RESENT, Outcome.CONTACTED),
}
# Outcomes that move money or call the model need a permission of their own, besides the case's.
REQUIRED_PERMISSIONS: Final = {
    Outcome.REFUNDED: "verdicts.refund_order",
    Outcome.AUTHORIZED: "verdicts.authorize_generation",
    Outcome.RELEASED: "verdicts.refund_order",
}


def decide(case: Case, outcome: Case.Outcome, *, who: User, note: str, account: Account) -> Case:
    """Carry out the outcome and close the case.

    Raises CaseTaken or a PaymentError, and then the case stays open.
    """
    if outcome not in OUTCOMES[case.kind]:
        raise CaseTaken(f"A case of this kind cannot be {outcome.label}.")
    claim(case, who=who)  # so that no one else decides during the call to Stripe
    if outcome == Outcome.REFUNDED:
        refund_order(case.order, account=account, who=who, reason=note)
        try:
            return close(case, outcome, who=who, note=note)
        except CaseTaken as error:
            raise RefundedMeanwhile(f"The payment was refunded. {error}") from None
    with transaction.atomic():
        if not _carry_out(case, outcome, who=who, note=note):
            raise CaseTaken("The order has changed: reload the page.")
        return close(case, outcome, who=who, note=note)


def _carry_out(case: Case, outcome: Case.Outcome, *, who: User, note: str) -> bool:
    """In the transaction that closes the case. False: the order or email has changed."""
    if outcome == Outcome.AUTHORIZED:
        return authorize(case.order, who=who, reason=note)
    if outcome == Outcome.RELEASED:
        return release(case.order, who=who, reason=note)
    if outcome == Outcome.RESENT and case.delivery:
        if not reopen(case.delivery, even_uncertain=True):
            return False  # it is being sent, or was sent
        queue.enqueue(queue.DELIVER, case.delivery.pk)
    return True
