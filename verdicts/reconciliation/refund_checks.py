"""What Stripe has paid back beside what is noted of it here."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from django.db import transaction

from verdicts.core.sessions import payment_intent
from verdicts.core.tiers import Price
from verdicts.models import Order
from verdicts.payments.client import Account, list_refunds
from verdicts.payments.refunds import record_refunded_charge
from verdicts.reconciliation.discrepancies import BATCH, Discrepancy, Look, Repaired

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


def refund_discrepancies(charges: Charges) -> Iterator[Discrepancy]:
    payments = list(charges)
    for start in range(0, len(payments), BATCH):
        some = payments[start : start + BATCH]
        for order in Order.objects.filter(payment_intent__in=some):
            if discrepancy := _gap(order, charges[order.payment_intent]):
                yield discrepancy


def _gap(order: Order, charge: dict[str, Any]) -> Discrepancy | None:
    refunded, paid = charge.get("amount_refunded"), charge.get("amount")
    if type(refunded) is not int or type(paid) is not int:
        return None
    there, here = Price(refunded, order.currency), Price(order.refunded_cents, order.currency)
    if refunded < order.refunded_cents:
        what = f"{there} paid back at Stripe, but {here} noted here: a refund has failed"
        about: Any = {"order_id": order.pk, "session_id": order.session_id or ""}
        return Discrepancy("refund", what, PAY_AGAIN, **about)
    whole = refunded >= paid > 0 and order.refunded_at is None
    if refunded == order.refunded_cents and not whole:
        return None
    return Discrepancy(
        "refund",
        f"{there} paid back at Stripe, {here} of it noted here",
        order_id=order.pk,
        session_id=order.session_id or "",
        repair=partial(_note, charge),
    )


def _note(charge: dict[str, Any]) -> Repaired:
    with transaction.atomic():
        outcome = record_refunded_charge(charge)
    return Repaired(f"noted as {outcome.label}")
