"""What a person decides about a case, and what follows from it: one effect, whoever presses."""

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

# What each kind of case can come to, as a person is offered it.
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
# What moves money or asks the model needs a permission of its own, beside the case's.
NEEDS: Final = {
    Outcome.REFUNDED: "verdicts.refund_order",
    Outcome.AUTHORIZED: "verdicts.authorize_generation",
    Outcome.RELEASED: "verdicts.refund_order",
}


def decide(case: Case, outcome: Case.Outcome, *, who: User, note: str, account: Account) -> Case:
    """Do it and close the case. Raises CaseTaken or a PaymentError; then it stays open."""
    if outcome not in OUTCOMES[case.kind]:
        raise CaseTaken(f"A case of this kind cannot be {outcome.label}.")
    claim(case, who=who)  # nobody else decides while we ask Stripe
    if outcome == Outcome.REFUNDED:
        refund_order(case.order, account=account, who=who, reason=note)
        try:
            return close(case, outcome, who=who, note=note)
        except CaseTaken as error:
            raise RefundedMeanwhile(f"The payment was refunded. {error}") from None
    with transaction.atomic():
        if not _act(case, outcome, who=who, note=note):
            raise CaseTaken("The order has changed meanwhile: look again.")
        return close(case, outcome, who=who, note=note)


def _act(case: Case, outcome: Case.Outcome, *, who: User, note: str) -> bool:
    """What has to happen together with the closing."""
    if outcome == Outcome.AUTHORIZED:
        return authorize(case.order, who=who, reason=note)
    if outcome == Outcome.RELEASED:
        return release(case.order, who=who, reason=note)
    if outcome == Outcome.RESENT and case.delivery:
        if not reopen(case.delivery, even_uncertain=True):
            return False  # it is on its way already, or was sent
        queue.enqueue(queue.DELIVER, case.delivery.pk)
    return True
