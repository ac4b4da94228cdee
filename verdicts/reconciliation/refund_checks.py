"""Compares the refunds at Stripe with those recorded here."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from django.db import transaction

from verdicts.core.sessions import payment_intent
from verdicts.core.tiers import Price
from verdicts.models import Order
from verdicts.payments.client import Account, list_refunds
from verdicts.payments.refunds import record_refunded_charge
from verdicts.reconciliation.discrepancies import (
    BATCH_SIZE,
    Discrepancy,
    ReconcileRun,
    RepairResult,
)

REFUND_OTHERWISE: Final = "refund it another way: see the failed refund in Stripe's dashboard"

Charges = dict[str, dict[str, Any]]  # by payment intent


def refunded_charges(run: ReconcileRun, account: Account) -> Charges:
    """Charges with a full or partial refund since the start of the run's period."""
    found: Charges = {}
    for page in list_refunds(account, since=run.since_timestamp, seconds=run.remaining):
        run.advance(len(page))
        charges = [refund["charge"] for refund in page if isinstance(refund.get("charge"), dict)]
        found |= {intent: charge for charge in charges if (intent := payment_intent(charge))}
    return found


def refund_discrepancies(charges: Charges) -> Iterator[Discrepancy]:
    payments = list(charges)
    for start in range(0, len(payments), BATCH_SIZE):
        batch = payments[start : start + BATCH_SIZE]
        for order in Order.objects.filter(payment_intent__in=batch):
            if discrepancy := _check_refund(order, charges[order.payment_intent]):
                yield discrepancy


def _check_refund(order: Order, charge: dict[str, Any]) -> Discrepancy | None:
    refunded, paid = charge.get("amount_refunded"), charge.get("amount")
    if type(refunded) is not int or type(paid) is not int:
        return None
    at_stripe, here = Price(refunded, order.currency), Price(order.refunded_cents, order.currency)
    if refunded < order.refunded_cents:
        return Discrepancy.of_order(
            order,
            "refund",
            f"{at_stripe} refunded at Stripe, but {here} recorded here: a refund has failed",
            REFUND_OTHERWISE,
        )
    is_full_and_unrecorded = refunded >= paid > 0 and order.refunded_at is None
    if refunded == order.refunded_cents and not is_full_and_unrecorded:
        return None
    return Discrepancy.of_order(
        order,
        "refund",
        f"{at_stripe} refunded at Stripe, {here} of it recorded here",
        repair=partial(_record, charge),
    )


def _record(charge: dict[str, Any]) -> RepairResult:
    with transaction.atomic():
        outcome = record_refunded_charge(charge)
    return RepairResult(f"recorded as {outcome.label}")
