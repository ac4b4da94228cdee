"""What Stripe has paid back beside what is noted of it here."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from django.db import transaction

from verdicts.core.sessions import payment_intent
from verdicts.core.tiers import Price
from verdicts.gateways.stripe_api import Account, list_refunds
from verdicts.models import Order
from verdicts.services.gaps import BATCH, Gap, Look, Mended
from verdicts.services.payments import note_refunded

PAY_AGAIN: Final = "pay it back another way: see the refund in Stripe's dashboard"

Charges = dict[str, dict[str, Any]]  # by payment


def refunded_charges(look: Look, account: Account) -> Charges:
    """Of every payment that was paid back since the look's beginning, whole or in part."""
    found: Charges = {}
    for page in list_refunds(account, since=look.unix, seconds=look.left):
        look.saw(len(page))
        charges = [one["charge"] for one in page if isinstance(one.get("charge"), dict)]
        found |= {intent: charge for charge in charges if (intent := payment_intent(charge))}
    return found


def refund_gaps(charges: Charges) -> Iterator[Gap]:
    payments = list(charges)
    for start in range(0, len(payments), BATCH):
        some = payments[start : start + BATCH]
        for order in Order.objects.filter(payment_intent__in=some):
            if gap := _gap(order, charges[order.payment_intent]):
                yield gap


def _gap(order: Order, charge: dict[str, Any]) -> Gap | None:
    refunded, paid = charge.get("amount_refunded"), charge.get("amount")
    if type(refunded) is not int or type(paid) is not int:
        return None
    there, here = Price(refunded, order.currency), Price(order.refunded_cents, order.currency)
    if refunded < order.refunded_cents:
        what = f"{there} paid back at Stripe, but {here} noted here: a refund has failed"
        about: Any = {"order_id": order.pk, "session_id": order.session_id or ""}
        return Gap("refund", what, PAY_AGAIN, **about)
    whole = refunded >= paid > 0 and order.refunded_at is None
    if refunded == order.refunded_cents and not whole:
        return None
    return Gap(
        "refund",
        f"{there} paid back at Stripe, {here} of it noted here",
        order_id=order.pk,
        session_id=order.session_id or "",
        mend=partial(_note, charge),
    )


def _note(charge: dict[str, Any]) -> Mended:
    with transaction.atomic():
        outcome = note_refunded(charge)
    return Mended(f"noted as {outcome}")
