"""What the gate decided, and why: rejected, approved, and approved with flags."""

from typing import Any, Final, get_args

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from audit.core.crosscheck import Reason
from audit.models import CrosscheckLog
from verdicts.admin.badges import tinted
from verdicts.admin.filters import DayRange, one_of
from verdicts.admin.permissions import EVIDENCE, allowed
from verdicts.admin.record import RecordAdmin
from verdicts.admin.review.evidence import read_evidence
from verdicts.admin.review.score import take_apart
from verdicts.models import Case, Order

REJECTED: Final = tuple(reason for reason in get_args(Reason) if reason != "pass")


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
        one_of("crosscheck_reason", REJECTED, heading="rejected for", approved=False),
        ("created_at", DayRange),
    )
    search_fields = ("session_id",)
    search_help_text = "Number or session id"

    def get_queryset(self, request: HttpRequest) -> Any:
        found = super().get_queryset(request)
        # A list shows no evidence: it is not read for one either.
        return found.defer("contributions", "evidence")

    def find(self, request: HttpRequest, term: str) -> Q | None:
        return super().find(request, term) or Q(session_id=term)

    @tinted("decision", approved="success", flagged="info", rejected="warning")
    def decision(self, check: CrosscheckLog) -> tuple[str, str]:
        of = ", smoke test" if check.smoke else ""
        if not check.approved:
            return "rejected", check.crosscheck_reason.replace("_", " ") + of
        if check.flagged:
            return "flagged", f"passed with flags{of}"
        return "approved", f"passed{of}"

    @admin.display
    def score(self, check: CrosscheckLog) -> str:
        return "–" if check.coherence_score is None else f"{check.coherence_score:.4f}"

    @admin.display(description="flags")
    def listed_flags(self, check: CrosscheckLog) -> str:
        return ", ".join(flag.replace("_", " ") for flag in check.flags) or "–"

    def page(self, request: HttpRequest, obj: CrosscheckLog) -> dict[str, Any]:
        return {
            "check": obj,
            "score": take_apart(obj),
            "evidence": read_evidence(obj) if allowed(request, EVIDENCE) else None,
            "case": Case.objects.filter(crosscheck=obj).first(),
            "order": Order.objects.filter(session_id=obj.session_id).first(),
            "title": f"Crosscheck {obj.pk}",
        }
