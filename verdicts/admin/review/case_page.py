"""The page of a case: its evidence, and the outcomes that the user can choose."""

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from verdicts.admin.permissions import DECIDE_CASES, VIEW_EVIDENCE, is_allowed
from verdicts.admin.review.evidence import read_evidence
from verdicts.admin.review.score import explain_score
from verdicts.admin.waiting import waiting_time
from verdicts.models import Case, Order, Status
from verdicts.review.case_decisions import OUTCOMES, REQUIRED_PERMISSIONS
from verdicts.review.timeline import timeline

Outcome = Case.Outcome

# The label of the button, and the effect.
OUTCOME_TEXTS: Final[dict[str, tuple[str, str]]] = {
    Outcome.REFUNDED: (
        "Refund",
        "Stripe refunds the whole payment, and the customer is notified by email.",
    ),
    Outcome.CONTACTED: ("Customer contacted", "Nothing is sent: you have contacted them yourself."),
    Outcome.AUTHORIZED: (
        "Authorize a fresh generation",
        "The model is called once more, with another seed. Your note is recorded as the reason.",
    ),
    Outcome.CORRECT: ("Close: rightly rejected", "Nothing is sent. Used to calibrate the gate."),
    Outcome.FALSE: ("Close: should have passed", "Nothing is sent. Used to calibrate the gate."),
    Outcome.RELEASED: ("Accept the payment", "The order continues as if it had been paid in full."),
    Outcome.RESENT: ("Send the email again", "The same email, under the same Message-ID."),
}
# Irreversible, so they need a confirmation.
NEEDS_CONFIRMATION: Final = frozenset({Outcome.REFUNDED, Outcome.AUTHORIZED, Outcome.RELEASED})


@dataclass(frozen=True, slots=True)
class Choice:
    outcome: str
    title: str
    effect: str


def case_page(request: HttpRequest, case: Case) -> dict[str, Any]:
    check = case.crosscheck
    return {
        "case": case,
        "order": case.order,
        "check": check,
        "waiting": waiting_time(case.opened_at),
        "score": explain_score(check) if check else None,
        "evidence": read_evidence(check) if check and is_allowed(request, VIEW_EVIDENCE) else None,
        "timeline": timeline(case.order),
        "others": case.order.cases.exclude(pk=case.pk).order_by("opened_at"),
        "is_claimed_by_user": _is_claimed_by_user(request, case),
        "is_claimed_by_other": _is_claimed_by_other(request, case),
        "may_decide": is_allowed(request, DECIDE_CASES),
        "choices": choices(request, case),
        "next_case": next_case(case),
    }


def choices(request: HttpRequest, case: Case) -> list[Choice]:
    """The outcomes that the user may choose and that the order's state allows."""
    if case.is_decided or not is_allowed(request, DECIDE_CASES):
        return []
    return [
        Choice(outcome, *OUTCOME_TEXTS[outcome])
        for outcome in OUTCOMES[case.kind]
        if is_allowed(request, REQUIRED_PERMISSIONS.get(outcome, DECIDE_CASES))
        and _is_possible(outcome, case.order)
    ]


def _is_possible(outcome: Case.Outcome, order: Order) -> bool:
    if outcome == Outcome.AUTHORIZED:
        return order.status in (Status.REJECTED, Status.FAILED) and not order.refunded_at
    if outcome == Outcome.RELEASED:
        return order.status == Status.HELD and bool(order.query) and not order.refunded_at
    if outcome == Outcome.REFUNDED:
        return bool(order.payment_intent or order.refunded_at)
    return True


def next_case(case: Case | None = None) -> Case | None:
    """The unclaimed open case that is next oldest after `case`; after the last one, the oldest."""
    open_cases = Case.objects.filter(closed_at=None).order_by("opened_at", "id")
    unclaimed = open_cases.filter(Q(claimed_until=None) | Q(claimed_until__lt=timezone.now()))
    if case is None:
        return unclaimed.first()
    later = Q(opened_at__gt=case.opened_at) | Q(opened_at=case.opened_at, id__gt=case.pk)
    return unclaimed.filter(later).first() or unclaimed.exclude(pk=case.pk).first()


def _is_claimed(case: Case) -> bool:
    return bool(case.claimed_until and case.claimed_until > timezone.now())


def _is_claimed_by_user(request: HttpRequest, case: Case) -> bool:
    return _is_claimed(case) and case.claimed_by == request.user


def _is_claimed_by_other(request: HttpRequest, case: Case) -> bool:
    return _is_claimed(case) and case.claimed_by != request.user
