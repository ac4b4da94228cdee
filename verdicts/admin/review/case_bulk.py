"""Bulk action: close the selected cases with one outcome and one note."""

from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest

from verdicts.admin.permissions import DECIDE_CASES, require
from verdicts.admin.review.case_actions import current_user
from verdicts.models import Case
from verdicts.review.case_decisions import OUTCOMES
from verdicts.review.cases import close_all

if TYPE_CHECKING:
    from verdicts.admin.record import RecordAdmin

MAX_CASES: Final = 500
# Outcomes without a refund and without a model call.
BULK_OUTCOMES: Final = (Case.Outcome.CONTACTED, Case.Outcome.CORRECT, Case.Outcome.FALSE)


def close_with_note(admin: "RecordAdmin", request: HttpRequest, chosen: QuerySet[Case]) -> Any:
    """A page that asks for outcome and note; None, which leads back to the list, once closed."""
    require(request, DECIDE_CASES)
    if chosen.count() > MAX_CASES:
        messages.error(
            request, f"Select at most {MAX_CASES} cases: filter the list, or close them in batches."
        )
        return None
    note = request.POST.get("note", "").strip()
    outcome = request.POST.get("outcome", "")
    if "apply" in request.POST and note and outcome in BULK_OUTCOMES:
        _close(request, chosen, Case.Outcome(outcome), note)
        return None
    if "apply" in request.POST:
        messages.error(request, "Choose an outcome and write a note.")
    return admin.render(
        request,
        "admin/case/bulk.html",
        title="Close with a note",
        cases=chosen.select_related("order", "crosscheck"),
        outcomes=BULK_OUTCOMES,
        checkbox=ACTION_CHECKBOX_NAME,
        note=note,
    )


def _close(request: HttpRequest, chosen: QuerySet[Case], outcome: Case.Outcome, note: str) -> None:
    kinds = [kind for kind, outcomes in OUTCOMES.items() if outcome in outcomes]
    selected = chosen.count()
    # Selected by id, without the list's order and joins.
    cases = Case.objects.filter(pk__in=[case.pk for case in chosen], kind__in=kinds)
    closed = close_all(cases, outcome, who=current_user(request), note=note)
    messages.success(request, f"Closed {closed} of {selected}: {outcome.label}.")
    if closed < selected:
        messages.warning(
            request,
            f"Not closed: {selected - closed}. They are claimed by someone else, closed already, "
            "or of a kind that cannot have this outcome.",
        )
