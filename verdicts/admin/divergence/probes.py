"""How far the model agrees with itself: the probes, and what they say over time (REGEN-GAP-06)."""

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
from verdicts.core.formatting import format_chart_day

SHOWN: Final = 30  # of a tier


@dataclass(frozen=True, slots=True)
class Residual:
    """What the probes of one tier say; `latest` is None where there are none."""

    tier: str
    latest: DeterminismProbe | None = None
    variance: Variance | None = None  # of the latest
    rate: str = ""
    interval: str = ""
    versions: str = ""
    chart: Rates | None = None
    older: bool = False  # there are more than are shown


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
        return _interval(_variance(probe))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        shown = getattr(response, "context_data", None)  # none where it leads elsewhere
        if shown and "cl" in shown:
            shown |= {"fewest": MIN_CHECKED, "residuals": residuals(shown["cl"].queryset)}
        return response


def residuals(probes: "QuerySet[DeterminismProbe]") -> list[Residual]:
    """Tier by tier, of what the list is filtered to; nothing at all where that is nothing."""
    found = [_residual(tier, probes.filter(tier=tier)) for tier in TIERS]
    return found if any(one.latest for one in found) else []


def _residual(tier: str, probes: "QuerySet[DeterminismProbe]") -> Residual:
    newest = list(probes.order_by("-pk")[: SHOWN + 1])
    if not newest:
        return Residual(tier)
    latest = newest[0]
    of = _variance(latest)
    return Residual(
        tier=tier,
        latest=latest,
        variance=of,
        rate=f"{of.rate:.1%}",
        interval=_interval(of),
        versions=", ".join(latest.model_versions),
        chart=rates_chart(
            f"Residual rate, {tier}",
            [_rate(one) for one in newest[SHOWN - 1 :: -1]],
            threshold=ALERT_RATE,
        ),
        older=len(newest) > SHOWN,
    )


def _rate(probe: DeterminismProbe) -> Rate:
    versions = ", ".join(probe.model_versions)
    of = _variance(probe)
    return Rate(format_chart_day(probe.created_at, year=True), versions, of.diverged, of.checked)


def _variance(probe: DeterminismProbe) -> Variance:
    """The first answer stands for the original, the others for its regenerations."""
    return Variance(checked=probe.compared, diverged=probe.compared - probe.same_label)


def _interval(of: Variance) -> str:
    return f"{of.interval.low:.1%} to {of.interval.high:.1%}"
