"""Many cases closed at once with one note: those that are free and that the outcome fits."""

from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest

from verdicts.admin.permissions import DECIDE_CASES, require
from verdicts.admin.review.case_actions import user
from verdicts.models import Case
from verdicts.review.case_decisions import OUTCOMES
from verdicts.review.cases import close_all

if TYPE_CHECKING:
    from verdicts.admin.record import RecordAdmin

# What moves no money and asks no model.
MAX_CASES: Final = 500
BULK: Final = (Case.Outcome.CONTACTED, Case.Outcome.CORRECT, Case.Outcome.FALSE)


def close_with_note(admin: "RecordAdmin", request: HttpRequest, chosen: QuerySet[Case]) -> Any:
    """A page that asks for outcome and note; then the closing, and back to the list (None)."""
    require(request, DECIDE_CASES)
    if chosen.count() > MAX_CASES:
        messages.error(
            request, f"At most {MAX_CASES} at a time: filter first, or do it in several turns."
        )
        return None
    note = request.POST.get("note", "").strip()
    asked = request.POST.get("outcome", "")
    if "apply" in request.POST and note and asked in BULK:
        _close(request, chosen, Case.Outcome(asked), note)
        return None
    if "apply" in request.POST:
        messages.error(request, "Choose an outcome and write a note.")
    return admin.render(
        request,
        "admin/case/bulk.html",
        title="Close with a note",
        cases=chosen.select_related("order", "crosscheck"),
        outcomes=BULK,
        checkbox=ACTION_CHECKBOX_NAME,
        note=note,
    )


def _close(request: HttpRequest, chosen: QuerySet[Case], outcome: Case.Outcome, note: str) -> None:
    fitting = [kind for kind, outcomes in OUTCOMES.items() if outcome in outcomes]
    wanted = chosen.count()
    # By key: the list's own order and joins are of no use to whoever closes.
    found = Case.objects.filter(pk__in=[case.pk for case in chosen], kind__in=fitting)
    closed = close_all(found, outcome, who=user(request), note=note)
    messages.success(request, f"Closed {closed} of {wanted}: {outcome.label}.")
    if closed < wanted:
        left = wanted - closed
        messages.warning(
            request,
            f"Left {left}: somebody else is at it, it was closed before, or it is of a kind "
            "that this outcome does not fit.",
        )
