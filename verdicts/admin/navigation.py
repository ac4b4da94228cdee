"""The sidebar, and what frames every page of the console."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from verdicts.admin.permissions import SEE_CASES
from verdicts.models import Case


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Only what this person may open."""
    waiting = Case.objects.filter(closed_at=None).count() if _may(request, SEE_CASES) else 0
    groups = [
        (
            "Now",
            [
                _item(request, "Home", "home", "admin:index"),
                _item(request, "Review queue", "inbox", "verdicts_case", badge=waiting),
                _item(request, "Passed with flags", "flag", "audit_crosschecklog", only="flagged"),
            ],
        ),
        (
            "Look up",
            [
                _item(request, "Orders", "receipt_long", "verdicts_order"),
                _item(request, "Comparisons", "compare_arrows", "audit_divergenceevent"),
                _item(request, "Crosschecks", "rule", "audit_crosschecklog"),
                _item(request, "Verdicts", "gavel", "verdicts_verdict"),
                _item(request, "Emails", "mail", "verdicts_delivery"),
            ],
        ),
        (
            "Record",
            [
                _item(request, "Staff actions", "history", "audit_action"),
                _item(request, "Log", "description", "audit_logentry"),
                _item(request, "Model calls", "smart_toy", "audit_modelcall"),
                _item(request, "Stripe events", "payments", "verdicts_stripeevent"),
                _item(request, "Probes", "science", "audit_determinismprobe"),
                _item(request, "Escalations", "warning", "audit_escalation"),
            ],
        ),
        (
            "Staff",
            [
                _item(request, "People", "person", "auth_user"),
                _item(request, "Groups", "group", "auth_group"),
            ],
        ),
    ]
    shown = [(title, [item for item in items if item]) for title, items in groups]
    return [
        {"title": title, "separator": title != "Now", "items": items}
        for title, items in shown
        if items
    ]


def account(request: HttpRequest) -> list[dict[str, Any]]:
    """What everybody can do about their own account, beside logging out."""
    return [
        {"title": "Change password", "link": reverse("admin:password_change")},
        {"title": "Second factor", "link": reverse("second-factor")},
    ]


def environment(request: HttpRequest) -> list[str] | None:
    return ["Sandbox: no real money", "warning"] if settings.SANDBOX else None


def stylesheet(request: HttpRequest) -> str:
    return static("console.css")


def script(request: HttpRequest) -> str:
    return static("console.js")


def _may(request: HttpRequest, permission: str) -> bool:
    return request.user.has_perm(permission)


def _item(
    request: HttpRequest, title: str, icon: str, name: str, *, only: str = "", badge: int = 0
) -> dict[str, Any] | None:
    if name == "admin:index":
        return {"title": title, "icon": icon, "link": reverse(name)}
    app, model = name.split("_")
    if not _may(request, f"{app}.view_{model}"):
        return None
    link = reverse(f"admin:{name}_changelist")
    here = request.path.startswith(link)
    chosen = f"{only}__exact" in request.GET if only else "flagged__exact" not in request.GET
    item = {
        "title": title,
        "icon": icon,
        "link": f"{link}?{only}__exact=1" if only else link,
        "active": here and chosen,
    }
    return {**item, "badge": str(badge)} if badge else item
