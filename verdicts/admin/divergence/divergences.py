"""Comparisons: the original and the regeneration side by side, and what the customer was told."""

from itertools import combinations
from typing import Any, Final, get_args

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from audit.core.divergence import Cause
from audit.models import DivergenceEvent
from verdicts.admin.badges import tinted
from verdicts.admin.divergence.side_by_side import side_by_side
from verdicts.admin.filters import DayRange
from verdicts.admin.permissions import CUSTOMER, allowed
from verdicts.admin.record import RecordAdmin
from verdicts.core.disclaimer import Comparison
from verdicts.models import Delivery, Order, Verdict

# Every list of causes that a comparison can have.
_CHANGES: Final[tuple[Cause, ...]] = ("prompt", "config", "model")
_ALONE: Final[tuple[Cause, ...]] = ("infrastructure", "unknown")
LISTS: Final = [
    *(list(some) for count in (1, 2, 3) for some in combinations(_CHANGES, count)),
    *([cause] for cause in _ALONE),
]


class ByLevel(SimpleListFilter):
    """What was skipped has an empty level: one index finds either."""

    title = "level"
    parameter_name = "level__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(level, level) for level in ("none", "minor", "significant", "skipped")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[DivergenceEvent]
    ) -> QuerySet[DivergenceEvent] | None:
        level = self.value()
        return queryset.filter(level="" if level == "skipped" else level) if level else None


class ByCause(SimpleListFilter):
    """By all lists that name it: an index has lists, and not what is in them."""

    title = "cause"
    parameter_name = "cause"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(cause, cause) for cause in get_args(Cause)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[DivergenceEvent]
    ) -> QuerySet[DivergenceEvent]:
        naming = [causes for causes in LISTS if self.value() in causes]
        return queryset.filter(causes__in=naming) if naming else queryset


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
    list_filter = (ByLevel, ByCause, "tier", ("created_at", DayRange))
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
