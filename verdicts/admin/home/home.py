"""The console's home page: open cases, daily statistics and alerts."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Min
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from audit.models import Escalation
from audit.variance import ALERT_RATE, MIN_CHECKED, Variance
from verdicts.admin.home.daily_stats_page import daily_stats_page
from verdicts.admin.permissions import VIEW_CASES, VIEW_ORDERS, is_allowed
from verdicts.admin.waiting import waiting_time
from verdicts.core.formatting import format_interval
from verdicts.generation.checks import model_honours_the_lock
from verdicts.models import Case
from verdicts.monitoring.daily_stats import load_daily_stats

PERIODS: Final = (7, 30, 90)
_ICONS: Final = {"rejected": "gavel", "failed": "error", "held": "pan_tool", "email": "mail_off"}


@dataclass(frozen=True, slots=True)
class OpenCases:
    """The open cases of one kind."""

    title: str
    icon: str
    count: int
    oldest: str  # its waiting time
    link: str


@dataclass(frozen=True, slots=True)
class Banner:
    level: str  # danger or warning
    title: str
    text: str
    link: str = ""


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """unfold's dashboard callback: adds the variables of templates/admin/index.html."""
    context |= {"title": "Home", "banners": banners(request), "periods": PERIODS}
    if is_allowed(request, VIEW_CASES):
        context["open_cases"] = open_cases()
    if is_allowed(request, VIEW_ORDERS):
        days = period(request)
        stats = load_daily_stats(days)
        context |= {"days": days, **daily_stats_page(stats)}
        context["banners"] = [*escalations(stats.variance), *context["banners"]]
    return context


def period(request: HttpRequest) -> int:
    days = request.GET.get("days", "")
    return int(days) if days in map(str, PERIODS) else 30


def open_cases() -> list[OpenCases]:
    rows = Case.objects.filter(closed_at=None).values_list("kind")
    by_kind = {
        kind: (count, oldest)
        for kind, count, oldest in rows.annotate(n=Count("pk"), oldest=Min("opened_at"))
    }
    queue = reverse("admin:verdicts_case_changelist")
    found = []
    for kind in Case.Kind:
        count, oldest = by_kind.get(kind, (0, None))
        waiting = waiting_time(oldest) if oldest else ""
        link = f"{queue}?kind__exact={kind.value}"
        found.append(OpenCases(kind.label, _ICONS[kind], count, waiting, link))
    return found


def escalations(variance: Variance) -> list[Banner]:
    """R14: the infrastructure variance is above its alert rate, or was escalated today."""
    today = Escalation.objects.filter(day=timezone.now().date()).exists()
    if not today and not variance.is_too_high:
        return []
    text = (
        f"{variance.diverged} of {variance.checked} regenerations on equal terms differed from "
        f"the emailed verdict in 30 days: {variance.rate:.1%} (95% interval "
        f"{format_interval(*variance.interval)}). The alert rate is {ALERT_RATE:.0%}, from "
        f"{MIN_CHECKED} comparisons on. "
        "Review the comparisons; ORACLE_CACHE_MISS=stored serves the stored originals instead."
    )
    link = reverse("admin:audit_divergenceevent_changelist") + "?cause=infrastructure"
    return [Banner("danger", "The model contradicts itself too often", text, link)]


def banners(request: HttpRequest) -> list[Banner]:
    """R16: the locked parameters that the chosen model ignores, from the system checks."""
    found = model_honours_the_lock(None)
    return [
        Banner("warning", f"Model {settings.ORACLE_MODEL}", f"{check.msg} {check.hint or ''}")
        for check in found
    ]
