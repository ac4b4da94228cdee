"""Comparisons: the original and the regeneration side by side, and what the customer was told."""

from typing import Any, get_args

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest

from audit.core.divergence import Cause
from audit.models import DivergenceEvent
from verdicts.admin.filters import DayRange
from verdicts.admin.permissions import CUSTOMER, allowed
from verdicts.admin.record import RecordAdmin
from verdicts.admin.side_by_side import side_by_side
from verdicts.admin.tinted import tinted
from verdicts.core.disclaimer import Comparison
from verdicts.models import Delivery, Order, Verdict


class ByCause(SimpleListFilter):
    title = "cause"
    parameter_name = "cause"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(cause, cause) for cause in get_args(Cause)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[DivergenceEvent]
    ) -> QuerySet[DivergenceEvent]:
        cause = self.value()
        if cause not in get_args(Cause):
            return queryset
        if cause == "infrastructure":  # then nothing else was different
            return queryset.filter(same_inputs=True)
        listed = queryset.alias(listed=Cast("causes", TextField()))
        return listed.filter(listed__contains=f'"{cause}"')


@admin.register(DivergenceEvent)
class DivergenceEventAdmin(RecordAdmin):
    page_template = "admin/divergence.html"
    list_display = (
        "id",
        "how_far",
        "original_verdict",
        "regen_verdict",
        "tier",
        "listed_causes",
        "session",
        "created_at",
    )
    list_filter = ("level", "skipped", ByCause, "tier", ("created_at", DayRange))
    search_fields = ("session_id",)
    search_help_text = "Number or session id"

    def find(self, request: HttpRequest, term: str) -> Q | None:
        return super().find(request, term) or Q(session_id=term)

    @tinted("level", none="success", minor="warning", significant="danger")
    def how_far(self, event: DivergenceEvent) -> tuple[str, str]:
        words = event.level or "skipped"
        return event.level, f"{words}, smoke test" if event.smoke else words

    @admin.display(description="causes")
    def listed_causes(self, event: DivergenceEvent) -> str:
        return ", ".join(event.causes)

    def page(self, request: HttpRequest, obj: DivergenceEvent) -> dict[str, Any]:
        regen = Verdict.objects.select_related("call").filter(crosscheck=obj.crosscheck_id).first()
        order = Order.objects.filter(session_id=obj.session_id).first()
        originals = Verdict.objects.select_related("call").filter(order=order, kind="original")
        original = originals.first() if order else None
        notices = Delivery.objects.filter(kind=Delivery.Kind.DIVERGENCE, regen=regen)
        said = Comparison(
            obj.original_verdict, "skipped" if obj.skipped else "checked", obj.level or None
        )
        return {
            "event": obj,
            "order": order,
            "regen": regen,
            "emailed": original,
            "pairs": side_by_side(obj, original, regen) if allowed(request, CUSTOMER) else [],
            "notice": notices.first() if regen else None,
            "disclaimer": said.disclaimer,
            "title": f"Comparison {obj.pk}",
        }
