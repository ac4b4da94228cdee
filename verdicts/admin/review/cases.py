"""The review queue: open cases, the oldest first, and the URLs of a case's page and buttons."""

from functools import cache
from typing import Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from unfold.admin import checkbox

from verdicts.admin.badges import badge_column
from verdicts.admin.permissions import DECIDE_CASES, is_allowed
from verdicts.admin.record import RecordAdmin
from verdicts.admin.review import case_actions, case_bulk
from verdicts.admin.review.case_page import case_page
from verdicts.admin.waiting import waiting_time
from verdicts.core.formatting import format_time
from verdicts.models import Case


@cache  # the theme renders a template for each row
def _checkbox() -> str:
    return str(checkbox.render(ACTION_CHECKBOX_NAME, "0"))


class StatusFilter(SimpleListFilter):
    """Open cases by default; a search by number finds closed ones too."""

    title = "status"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("mine", "claimed by me"), ("closed", "closed")]

    def choices(self, changelist: ChangeList) -> Any:
        first, *others = super().choices(changelist)
        return [{**first, "display": "open"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Case]) -> QuerySet[Case]:
        if request.GET.get(SEARCH_VAR, "").strip():
            return queryset
        if self.value() == "closed":
            return queryset.filter(closed_at__isnull=False)
        found = queryset.filter(closed_at=None)
        if self.value() == "mine":
            return found.filter(claimed_by=request.user.pk, claimed_until__gt=timezone.now())
        return found


@admin.register(Case)
class CaseAdmin(RecordAdmin):
    customer_fields = ()
    page_template = "admin/case/page.html"
    list_display = ("name", "kind_badge", "waiting", "tier", "reason", "claimed", "outcome_text")
    list_filter = (StatusFilter, "kind", "outcome")
    list_select_related = ("order", "crosscheck", "delivery", "claimed_by", "closed_by")
    actions = ("close_with_note",)
    search_fields = ("id",)
    search_help_text = "Case number"

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("-closed_at" if request.GET.get("standing") == "closed" else "opened_at", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Case]:
        return super().get_queryset(request).defer("crosscheck__evidence", "order__query")

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return is_allowed(request, DECIDE_CASES)

    @admin.action(description="Close with a note", permissions=["decide"])
    def close_with_note(self, request: HttpRequest, queryset: QuerySet[Case]) -> Any:
        return case_bulk.close_with_note(self, request, queryset)

    def page_context(self, request: HttpRequest, obj: Case) -> dict[str, Any]:
        return case_page(request, obj)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        urls = [
            path(
                f"<int:case_id>/{name}/", view(self._bind(case_view)), name=f"verdicts_case_{name}"
            )
            for name, case_view in case_actions.CASE_VIEWS.items()
        ]
        next_view = view(self._bind(case_actions.go_to_next))
        return [*urls, path("next/", next_view, name="verdicts_case_next"), *super().get_urls()]

    def _bind(self, case_view: case_actions.CaseView) -> Any:
        def view(request: HttpRequest, **kwargs: int) -> HttpResponse:
            return case_view(self, request, **kwargs)

        return view

    # Columns

    @admin.display(description="select")
    def action_checkbox(self, case: Case) -> SafeString:
        return mark_safe(_checkbox().replace('value="0"', f'value="{case.pk}"'))  # noqa: S308 - an integer

    @admin.display(description="case")
    def name(self, case: Case) -> str:
        return f"Case {case.pk}"

    @badge_column("kind", rejected="warning", failed="danger", held="info")
    def kind_badge(self, case: Case) -> tuple[str, str]:
        return case.kind, case.get_kind_display()

    @admin.display
    def waiting(self, case: Case) -> str:
        return "–" if case.closed_at else waiting_time(case.opened_at)

    @admin.display
    def tier(self, case: Case) -> str:
        return case.order.tier

    @admin.display
    def reason(self, case: Case) -> str:
        if case.crosscheck:
            kind = " of a regeneration" if case.crosscheck.kind == "regen" else ""
            return case.crosscheck.crosscheck_reason.replace("_", " ") + kind
        if case.delivery:
            return f"{case.delivery.get_kind_display()} email: {case.delivery.error}"
        return case.order.reason

    @admin.display
    def claimed(self, case: Case) -> str:
        if case.claimed_by and case.claimed_until and case.claimed_until > timezone.now():
            return f"{case.claimed_by.get_username()} until {format_time(case.claimed_until)}"
        return "–"

    @admin.display(description="outcome")
    def outcome_text(self, case: Case) -> str:
        if case.closed_by:
            return f"{case.get_outcome_display()}, by {case.closed_by.get_username()}"
        return "open"
