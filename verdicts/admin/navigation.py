"""The sidebar and the other parts of every console page; `oracle_site.unfold` names them."""

from typing import Any, Final, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from verdicts.admin.permissions import is_allowed
from verdicts.models import Case


class Item(NamedTuple):
    title: str
    icon: str
    model: str  # app_model
    flag: str = ""  # only the rows with this flag


GROUPS: Final = {
    "Now": (
        Item("Review queue", "inbox", "verdicts_case"),
        Item("Passed with flags", "flag", "audit_crosschecklog", "flagged"),
    ),
    "Look up": (
        Item("Orders", "receipt_long", "verdicts_order"),
        Item("Comparisons", "compare_arrows", "audit_divergenceevent"),
        Item("Crosschecks", "rule", "audit_crosschecklog"),
        Item("Verdicts", "gavel", "verdicts_verdict"),
        Item("Emails", "mail", "verdicts_delivery"),
    ),
    "Record": (
        Item("Staff actions", "history", "audit_action"),
        Item("Log", "description", "audit_logentry"),
        Item("Model calls", "smart_toy", "audit_modelcall"),
        Item("Stripe events", "payments", "verdicts_stripeevent"),
        Item("Probes", "science", "audit_determinismprobe"),
        Item("Escalations", "warning", "audit_escalation"),
    ),
    "Staff": (
        Item("People", "person", "auth_user"),
        Item("Groups", "group", "auth_group"),
    ),
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The home page, and the lists that the user may view; groups without any are left out."""
    found = []
    for title, items in GROUPS.items():
        links = [_link(request, item) for item in items if _may_view(request, item)]
        if title == "Now":
            home = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
            links = [home, *links]
        if links:
            found.append({"title": title, "separator": title != "Now", "items": links})
    return found


def account(request: HttpRequest) -> list[dict[str, Any]]:
    """The account menu's links, besides logging out."""
    return [
        {"title": "Change password", "link": reverse("admin:password_change")},
        {"title": "Two-factor authentication", "link": reverse("second-factor")},
    ]


def environment(request: HttpRequest) -> list[str] | None:
    return ["Sandbox: no real money", "warning"] if settings.SANDBOX else None


def stylesheet(request: HttpRequest) -> str:
    return static("console.css")


def script(request: HttpRequest) -> str:
    return static("console.js")


def _may_view(request: HttpRequest, item: Item) -> bool:
    app, model = item.model.split("_")
    return is_allowed(request, f"{app}.view_{model}")


def _link(request: HttpRequest, item: Item) -> dict[str, Any]:
    address = reverse(f"admin:{item.model}_changelist")
    is_flagged = "flagged__exact" in request.GET
    link = {
        "title": item.title,
        "icon": item.icon,
        "link": f"{address}?{item.flag}__exact=1" if item.flag else address,
        "active": request.path.startswith(address) and is_flagged == bool(item.flag),
    }
    return link | _badge(item)


def _badge(item: Item) -> dict[str, str]:
    """The number of open cases."""
    if item.model != "verdicts_case":
        return {}
    count = Case.objects.filter(closed_at=None).count()
    return {"badge": str(count)} if count else {}
