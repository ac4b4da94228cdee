"""The gate's decisions and their reasons: rejected, approved, and approved with flags."""

from typing import Any, Final, get_args

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from audit.core.crosscheck import Reason
from audit.models import CrosscheckLog
from verdicts.admin.badges import badge_column
from verdicts.admin.filters import DayRange, equality_filter
from verdicts.admin.permissions import VIEW_EVIDENCE, is_allowed
from verdicts.admin.record import RecordAdmin
from verdicts.admin.review.evidence import read_evidence
from verdicts.admin.review.score import explain_score
from verdicts.core.formatting import format_score
from verdicts.models import Case, Order

REJECTION_REASONS: Final = tuple(reason for reason in get_args(Reason) if reason != "pass")


@admin.register(CrosscheckLog)
class CrosscheckLogAdmin(RecordAdmin):
    evidence_fields = ("evidence",)
    page_template = "admin/crosscheck.html"
    list_display = (
        "id",
        "decision",
        "verdict_label",
        "score",
        "kind",
        "tier",
        "listed_flags",
        "session",
        "created_at",
    )
    list_filter = (
        "approved",
        "flagged",
        equality_filter(
            "crosscheck_reason", REJECTION_REASONS, title="rejected for", approved=False
        ),
        ("created_at", DayRange),
    )
    search_fields = ("session_id",)
    search_help_text = "Number or session id"

    def get_queryset(self, request: HttpRequest) -> Any:
        # Large columns that the list does not show.
        return super().get_queryset(request).defer("contributions", "evidence")

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return super().search_filter(request, term) or Q(session_id=term)

    @badge_column("decision", approved="success", flagged="info", rejected="warning")
    def decision(self, check: CrosscheckLog) -> tuple[str, str]:
        suffix = ", smoke test" if check.smoke else ""
        if not check.approved:
            return "rejected", check.crosscheck_reason.replace("_", " ") + suffix
        if check.flagged:
            return "flagged", f"passed with flags{suffix}"
        return "approved", f"passed{suffix}"

    @admin.display
    def score(self, check: CrosscheckLog) -> str:
        return "–" if check.coherence_score is None else format_score(check.coherence_score)

    @admin.display(description="flags")
    def listed_flags(self, check: CrosscheckLog) -> str:
        return ", ".join(flag.replace("_", " ") for flag in check.flags) or "–"

    def page_context(self, request: HttpRequest, obj: CrosscheckLog) -> dict[str, Any]:
        return {
            "check": obj,
            "score": explain_score(obj),
            "evidence": read_evidence(obj) if is_allowed(request, VIEW_EVIDENCE) else None,
            "case": Case.objects.filter(crosscheck=obj).first(),
            "order": Order.objects.filter(session_id=obj.session_id).first(),
            "title": f"Crosscheck {obj.pk}",
        }
