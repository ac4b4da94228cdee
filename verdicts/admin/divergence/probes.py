"""Determinism probes, and the residual rate over time (REGEN-GAP-06)."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from audit.core.vocabulary import TIERS
from audit.models import DeterminismProbe
from audit.variance import ALERT_RATE, MIN_CHECKED, Variance
from verdicts.admin.filters import DayRange
from verdicts.admin.record import RecordAdmin
from verdicts.core.charts.rates import Rate, Rates, rates_chart
from verdicts.core.formatting import format_chart_day, format_interval

MAX_CHARTED: Final = 30  # the latest probes of a tier


@dataclass(frozen=True, slots=True)
class TierResidual:
    """The residual rate of one tier; `latest` is None if there is no probe."""

    tier: str
    latest: DeterminismProbe | None = None
    variance: Variance | None = None  # of the latest
    rate: str = ""
    interval: str = ""
    versions: str = ""
    chart: Rates | None = None
    has_older: bool = False  # more probes than are charted


@admin.register(DeterminismProbe)
class DeterminismProbeAdmin(RecordAdmin):
    customer_fields = ()
    list_before_template = "admin/probes.html"
    list_display = (
        "created_at",
        "tier",
        "model",
        "answered_as",
        "residual_rate",
        "interval",
        "same_dimensions",
        "same_text",
        "compared",
        "distinct_texts",
    )
    list_filter = ("tier", ("created_at", DayRange))

    @admin.display
    def answered_as(self, probe: DeterminismProbe) -> str:
        return ", ".join(probe.model_versions)

    @admin.display
    def residual_rate(self, probe: DeterminismProbe) -> str:
        return f"{_variance(probe).rate:.1%}"

    @admin.display(description="95% interval")
    def interval(self, probe: DeterminismProbe) -> str:
        return format_interval(*_variance(probe).interval)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        context = getattr(response, "context_data", None)  # a redirect has none
        if context and "cl" in context:
            context |= {
                "min_checked": MIN_CHECKED,
                "residuals": residuals(context["cl"].queryset),
            }
        return response


def residuals(probes: "QuerySet[DeterminismProbe]") -> list[TierResidual]:
    """By tier, for the probes that the list is filtered to; empty if there are none."""
    found = [_residual(tier, probes.filter(tier=tier)) for tier in TIERS]
    return found if any(one.latest for one in found) else []


def _residual(tier: str, probes: "QuerySet[DeterminismProbe]") -> TierResidual:
    newest = list(probes.order_by("-pk")[: MAX_CHARTED + 1])
    if not newest:
        return TierResidual(tier)
    latest = newest[0]
    found = _variance(latest)
    return TierResidual(
        tier=tier,
        latest=latest,
        variance=found,
        rate=f"{found.rate:.1%}",
        interval=format_interval(*found.interval),
        versions=", ".join(latest.model_versions),
        chart=rates_chart(
            f"Residual rate, {tier}",
            [_rate(one) for one in newest[MAX_CHARTED - 1 :: -1]],
            threshold=ALERT_RATE,
        ),
        has_older=len(newest) > MAX_CHARTED,
    )


def _rate(probe: DeterminismProbe) -> Rate:
    versions = ", ".join(probe.model_versions)
    found = _variance(probe)
    day = format_chart_day(probe.created_at, year=True)
    return Rate(day, versions, found.diverged, found.checked)


def _variance(probe: DeterminismProbe) -> Variance:
    """The first answer counts as the original, the others as its regenerations."""
    return Variance(checked=probe.compared, diverged=probe.compared - probe.same_label)
