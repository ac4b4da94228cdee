"""Comparisons of an original with its regeneration, side by side, and the customer's notices."""

from itertools import combinations
from typing import Any, Final, get_args

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from audit.core.divergence import Cause
from audit.models import DivergenceEvent
from verdicts.admin.badges import badge_column
from verdicts.admin.divergence.side_by_side import side_by_side
from verdicts.admin.filters import DayRange
from verdicts.admin.permissions import VIEW_CUSTOMER, is_allowed
from verdicts.admin.record import RecordAdmin
from verdicts.core.disclaimer import Comparison
from verdicts.models import Delivery, Order, Verdict

# Every list of causes that a comparison can have: changed inputs combine, the others do not.
_COMBINABLE: Final[tuple[Cause, ...]] = ("prompt", "config", "model")
_EXCLUSIVE: Final[tuple[Cause, ...]] = ("infrastructure", "unknown")
CAUSE_LISTS: Final = [
    *(list(causes) for count in (1, 2, 3) for causes in combinations(_COMBINABLE, count)),
    *([cause] for cause in _EXCLUSIVE),
]


class LevelFilter(SimpleListFilter):
    """A skipped comparison has an empty level, so that one index serves all choices."""

    title = "level"
    parameter_name = "level__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(level, level) for level in ("none", "minor", "significant", "skipped")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[DivergenceEvent]
    ) -> QuerySet[DivergenceEvent] | None:
        level = self.value()
        return queryset.filter(level="" if level == "skipped" else level) if level else None


class CauseFilter(SimpleListFilter):
    """Selects by every list that contains the cause: the index is on the whole list."""

    title = "cause"
    parameter_name = "cause"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(cause, cause) for cause in get_args(Cause)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[DivergenceEvent]
    ) -> QuerySet[DivergenceEvent]:
        matching = [causes for causes in CAUSE_LISTS if self.value() in causes]
        return queryset.filter(causes__in=matching) if matching else queryset


@admin.register(DivergenceEvent)
class DivergenceEventAdmin(RecordAdmin):
    page_template = "admin/divergence.html"
    list_display = (
        "id",
        "level_badge",
        "original_verdict",
        "regen_verdict",
        "tier",
        "listed_causes",
        "session",
        "created_at",
    )
    list_filter = (LevelFilter, CauseFilter, "tier", ("created_at", DayRange))
    search_fields = ("session_id",)
    search_help_text = "Number or session id"

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return super().search_filter(request, term) or Q(session_id=term)

    @badge_column("level", none="success", minor="warning", significant="danger")
    def level_badge(self, event: DivergenceEvent) -> tuple[str, str]:
        text = event.level or "skipped"
        return event.level, f"{text}, smoke test" if event.smoke else text

    @admin.display(description="causes")
    def listed_causes(self, event: DivergenceEvent) -> str:
        return ", ".join(event.causes)

    def page_context(self, request: HttpRequest, obj: DivergenceEvent) -> dict[str, Any]:
        regen = Verdict.objects.select_related("call").filter(crosscheck=obj.crosscheck_id).first()
        order = Order.objects.filter(session_id=obj.session_id).first()
        originals = Verdict.objects.select_related("call").filter(order=order, kind="original")
        original = originals.first() if order else None
        notices = Delivery.objects.filter(kind=Delivery.Kind.DIVERGENCE, regen=regen)
        comparison = Comparison(
            obj.original_verdict, "skipped" if obj.skipped else "checked", obj.level or None
        )
        return {
            "event": obj,
            "order": order,
            "regen": regen,
            "emailed": original,
            "pairs": side_by_side(obj, original, regen)
            if is_allowed(request, VIEW_CUSTOMER)
            else [],
            "notice": notices.first() if regen else None,
            "disclaimer": comparison.disclaimer,
            "title": f"Comparison {obj.pk}",
        }
