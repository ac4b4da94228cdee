"""What a reviewer is shown of one case, and what they can make of it."""

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from verdicts.admin.permissions import DECIDE_CASES, VIEW_EVIDENCE, is_allowed
from verdicts.admin.review.evidence import read_evidence
from verdicts.admin.review.score import take_apart
from verdicts.admin.waiting import waiting
from verdicts.models import Case, Order, Status
from verdicts.review.case_decisions import NEEDS, OUTCOMES
from verdicts.review.timeline import timeline

Outcome = Case.Outcome

# What the button says, and what follows from it.
WORDS: Final[dict[str, tuple[str, str]]] = {
    Outcome.REFUNDED: ("Refund", "Stripe pays everything back, and the customer is told by email."),
    Outcome.CONTACTED: ("Customer contacted", "Nothing is sent: you have written to them."),
    Outcome.AUTHORIZED: (
        "Authorize a fresh generation",
        "The model is asked once more, with another seed. Your reason goes on record.",
    ),
    Outcome.CORRECT: ("Close: rightly rejected", "Nothing is sent. Teaches the gate."),
    Outcome.FALSE: ("Close: should have passed", "Nothing is sent. Teaches the gate."),
    Outcome.RELEASED: ("Accept the payment", "The order is judged as if it had been paid in full."),
    Outcome.RESENT: ("Send the email again", "The same email, under the same Message-ID."),
}
# What cannot be taken back is asked about twice.
CONFIRMED: Final = frozenset({Outcome.REFUNDED, Outcome.AUTHORIZED, Outcome.RELEASED})


@dataclass(frozen=True, slots=True)
class Choice:
    outcome: str
    title: str
    help: str


def case_page(request: HttpRequest, case: Case) -> dict[str, Any]:
    check = case.crosscheck
    return {
        "case": case,
        "order": case.order,
        "check": check,
        "waiting": waiting(case.opened_at),
        "score": take_apart(check) if check else None,
        "evidence": read_evidence(check) if check and is_allowed(request, VIEW_EVIDENCE) else None,
        "timeline": timeline(case.order),
        "others": case.order.cases.exclude(pk=case.pk).order_by("opened_at"),
        "mine": _is_mine(request, case),
        "taken": _is_taken(request, case),
        "may_decide": is_allowed(request, DECIDE_CASES),
        "choices": choices(request, case),
        "after": following(case),
    }


def choices(request: HttpRequest, case: Case) -> list[Choice]:
    """The outcomes that this person may choose and that the order still allows."""
    if case.is_decided or not is_allowed(request, DECIDE_CASES):
        return []
    return [
        Choice(outcome, *WORDS[outcome])
        for outcome in OUTCOMES[case.kind]
        if is_allowed(request, NEEDS.get(outcome, DECIDE_CASES))
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


def following(case: Case | None = None) -> Case | None:
    """The open case that has waited longest after this one; from the top again after the last."""
    waiting_ones = Case.objects.filter(closed_at=None).order_by("opened_at", "id")
    free = waiting_ones.filter(Q(claimed_until=None) | Q(claimed_until__lt=timezone.now()))
    if case is None:
        return free.first()
    later = Q(opened_at__gt=case.opened_at) | Q(opened_at=case.opened_at, id__gt=case.pk)
    return free.filter(later).first() or free.exclude(pk=case.pk).first()


def _is_held(case: Case) -> bool:
    return bool(case.claimed_until and case.claimed_until > timezone.now())


def _is_mine(request: HttpRequest, case: Case) -> bool:
    return _is_held(case) and case.claimed_by == request.user


def _is_taken(request: HttpRequest, case: Case) -> bool:
    return _is_held(case) and case.claimed_by != request.user
