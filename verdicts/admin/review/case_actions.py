"""The views behind a case's buttons: each has its effect once, adds a message and redirects."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from audit.actions import record_action
from audit.log_context import set_log_session
from verdicts import clients
from verdicts.admin.permissions import DECIDE_CASES, VIEW_CASES, require
from verdicts.admin.review.case_page import NEEDS_CONFIRMATION, OUTCOME_TEXTS, choices, next_case
from verdicts.core.errors import CaseTaken, PaymentError, RefundedMeanwhile
from verdicts.core.formatting import format_amount
from verdicts.models import Case, Order, Status
from verdicts.review import cases
from verdicts.review.case_decisions import REQUIRED_PERMISSIONS, decide

if TYPE_CHECKING:
    from verdicts.admin.record import RecordAdmin

CaseView = Callable[..., HttpResponse]
QUEUE: Final = "admin:verdicts_case_changelist"
PAGE: Final = "admin:verdicts_case_change"


def claim(_: "RecordAdmin", request: HttpRequest, case_id: int) -> HttpResponse:
    case = _case(request, case_id)
    if request.method == "POST":
        try:
            cases.claim(case, who=current_user(request))
            _record(request, case, "claim case")
            messages.success(request, "You have claimed this case for 15 minutes.")
        except CaseTaken as error:
            messages.error(request, str(error))
    return redirect(PAGE, case_id)


def leave(_: "RecordAdmin", request: HttpRequest, case_id: int) -> HttpResponse:
    case = _case(request, case_id)
    if request.method == "POST":
        if cases.unclaim(case, who=current_user(request)):
            _record(request, case, "leave case")
            messages.success(request, "Claim released: others can claim the case now.")
        else:
            messages.warning(request, "You no longer had the claim.")
    return redirect(PAGE, case_id)


def resolve(admin: "RecordAdmin", request: HttpRequest, case_id: int) -> HttpResponse:
    """Decide the case; irreversible outcomes need a confirmation first."""
    case = _case(request, case_id)
    if request.method != "POST":
        return redirect(PAGE, case_id)
    chosen = request.POST.get("outcome", "")
    if chosen not in Case.Outcome.values:
        messages.error(request, "Choose an outcome.")
        return redirect(PAGE, case_id)
    outcome = Case.Outcome(chosen)
    require(request, REQUIRED_PERMISSIONS.get(outcome, DECIDE_CASES))
    note = request.POST.get("note", "").strip()
    if not note:
        messages.error(request, "Write a note first: others need to know why.")
        return redirect(PAGE, case_id)
    if outcome in NEEDS_CONFIRMATION and "confirmed" not in request.POST:
        return _confirm(admin, request, case, outcome, note)
    return _decide(request, case, outcome, note)


def go_to_next(_: "RecordAdmin", request: HttpRequest) -> HttpResponse:
    """Redirect to the oldest open case that is unclaimed."""
    require(request, VIEW_CASES)
    case = next_case()
    if case is None:
        messages.info(request, "No case is open.")
        return redirect(QUEUE)
    return redirect(PAGE, case.pk)


def _confirm(
    admin: "RecordAdmin", request: HttpRequest, case: Case, outcome: Case.Outcome, note: str
) -> HttpResponse:
    if case.is_decided or outcome not in {one.outcome for one in choices(request, case)}:
        messages.error(request, "That is no longer possible: check the case again.")
        return redirect(PAGE, case.pk)
    title, effect = OUTCOME_TEXTS[outcome]
    return admin.render(
        request,
        "admin/case/confirm.html",
        case,
        title=f"{title}?",
        case=case,
        order=case.order,
        outcome=outcome,
        note=note,
        amount=_amount(case.order),
        verb=title,
        effect=effect,
    )


def _amount(order: Order) -> str:
    if order.status == Status.HELD:  # the amount paid is not the price
        return "The whole payment"
    return format_amount(order.price_cents, order.currency)


def _decide(request: HttpRequest, case: Case, outcome: Case.Outcome, note: str) -> HttpResponse:
    account = clients.stripe_account()
    try:
        decide(case, outcome, who=current_user(request), note=note, account=account)
    except RefundedMeanwhile as error:
        messages.warning(request, str(error))
        return redirect(PAGE, case.pk)
    except CaseTaken as error:
        messages.error(request, f"Nothing was changed. {error}")
        return redirect(PAGE, case.pk)
    except PaymentError as error:
        messages.error(request, f"The case stays open: {error}. Try again in a minute.")
        return redirect(PAGE, case.pk)
    messages.success(request, f"Case {case.pk}: {outcome.label}. {OUTCOME_TEXTS[outcome][1]}")
    return redirect(QUEUE)


def _case(request: HttpRequest, case_id: int) -> Case:
    require(request, VIEW_CASES, DECIDE_CASES)
    found: Any = Case.objects.select_related("order", "delivery")
    case = cast("Case", get_object_or_404(found, pk=case_id))
    set_log_session(case.order.session_id)
    return case


def _record(request: HttpRequest, case: Case, action: str) -> None:
    record_action(
        session_id=case.order.session_id or "",
        action=action,
        who=current_user(request).get_username(),
        reason=f"case {case.pk}",
    )


def current_user(request: HttpRequest) -> User:
    """The admin site lets only logged-in users through."""
    return cast("User", request.user)


CASE_VIEWS: Final[dict[str, CaseView]] = {"claim": claim, "leave": leave, "resolve": resolve}
