"""The first page: what needs a person now, and how the house is doing."""

from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Min
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from audit.models import Escalation
from audit.variance import ALERT_RATE, MIN_CHECKED, Variance
from verdicts.admin.home.daily_stats_page import figures_page
from verdicts.admin.permissions import SEE_CASES, SEE_ORDERS, allowed
from verdicts.admin.waiting import waiting
from verdicts.generation.checks import model_honours_the_lock
from verdicts.models import Case
from verdicts.monitoring.daily_stats import load_daily_stats

PERIODS: Final = (7, 30, 90)
_ICONS: Final = {"rejected": "gavel", "failed": "error", "held": "pan_tool", "email": "mail_off"}


@dataclass(frozen=True, slots=True)
class Pile:
    """The open cases of one kind."""

    title: str
    icon: str
    count: int
    oldest: str
    link: str


@dataclass(frozen=True, slots=True)
class Banner:
    tone: str
    title: str
    text: str
    link: str = ""


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """unfold's callback: `context` with what our own index template shows."""
    context |= {"title": "Home", "banners": banners(request), "periods": PERIODS}
    if allowed(request, SEE_CASES):
        context["piles"] = piles()
    if allowed(request, SEE_ORDERS):
        days = period(request)
        found = load_daily_stats(days)
        context |= {"days": days, **figures_page(found)}
        context["banners"] = [*escalations(found.variance), *context["banners"]]
    return context


def period(request: HttpRequest) -> int:
    asked = request.GET.get("days", "")
    return int(asked) if asked in map(str, PERIODS) else 30


def piles() -> list[Pile]:
    rows = Case.objects.filter(closed_at=None).values_list("kind")
    found = {
        kind: (count, oldest)
        for kind, count, oldest in rows.annotate(n=Count("pk"), oldest=Min("opened_at"))
    }
    queue = reverse("admin:verdicts_case_changelist")
    listed = []
    for kind in Case.Kind:
        count, oldest = found.get(kind, (0, None))
        since = waiting(oldest) if oldest else ""
        listed.append(
            Pile(kind.label, _ICONS[kind], count, since, f"{queue}?kind__exact={kind.value}")
        )
    return listed


def escalations(variance: Variance) -> list[Banner]:
    """R14: the model contradicts itself too often, or did so today."""
    today = Escalation.objects.filter(day=timezone.now().date()).exists()
    if not today and not variance.is_too_high:
        return []
    low, high = variance.interval
    text = (
        f"{variance.diverged} of {variance.checked} regenerations on equal terms differed from "
        f"the emailed verdict in 30 days: {variance.rate:.1%} (95% interval {low:.1%} to "
        f"{high:.1%}). The alert rate is {ALERT_RATE:.0%}, from {MIN_CHECKED} comparisons on. "
        "Review the comparisons; ORACLE_CACHE_MISS=stored serves the stored originals instead."
    )
    link = reverse("admin:audit_divergenceevent_changelist") + "?cause=infrastructure"
    return [Banner("danger", "The model contradicts itself too often", text, link)]


def banners(request: HttpRequest) -> list[Banner]:
    """R16: what the chosen model does with the lock, as the system checks say it."""
    found = model_honours_the_lock(None)
    return [
        Banner("warning", f"Model {settings.ORACLE_MODEL}", f"{one.msg} {one.hint or ''}")
        for one in found
    ]
