"""Orders: search, history from payment to last read, and resending the stored email."""

import re
from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.dateparse import parse_datetime

from audit.log_context import set_log_session
from verdicts.admin.badges import badge_column
from verdicts.admin.filters import DayRange
from verdicts.admin.permissions import DECIDE_CASES, VIEW_CUSTOMER, VIEW_ORDERS, is_allowed, require
from verdicts.admin.record import RecordAdmin
from verdicts.admin.review.case_actions import current_user
from verdicts.core.errors import CannotResend
from verdicts.core.formatting import format_amount
from verdicts.core.presentation import PresentedVerdict, present
from verdicts.mail.resend import ENDED, resend, resendable_email
from verdicts.models import Order, Verdict
from verdicts.privacy.export import case_variants
from verdicts.review.timeline import timeline

PAGE: Final = "admin:verdicts_order_change"
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{12}", re.IGNORECASE)


@admin.register(Order)
class OrderAdmin(RecordAdmin):
    customer_fields = ("session_id", "query", "email", "payment_intent", "token")
    page_template = "admin/order.html"
    # The columns of the order list.
    list_display = (
        "id",
        "status_badge",
        "tier",
        "email",
        "price",
        "paid_at",
        "refunded_at",
        "session",
        "origin",
    )
    list_filter = ("status", "tier", "smoke", ("paid_at", DayRange))
    search_fields = ("id",)
    search_help_text = "Email, session id, fingerprint, payment or number"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Order]:
        return super().get_queryset(request).defer("query")

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        """The form of the term selects the column: each search is one index lookup."""
        if "@" in term:
            return (
                Q(lower_email__in=case_variants(term))
                if is_allowed(request, VIEW_CUSTOMER)
                else None
            )
        if term.startswith("cs_"):
            return Q(session_id=term)
        if term.startswith("pi_"):
            return Q(payment_intent=term) if is_allowed(request, VIEW_CUSTOMER) else None
        if _FINGERPRINT.fullmatch(term):
            verdicts = Verdict.objects.filter(fingerprint=term.lower())
            found = Q(pk__in=list(verdicts.values_list("order_id", flat=True)[:1000]))
            return found | (super().search_filter(request, term) or found)
        return super().search_filter(request, term)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if "@" in search_term:
            queryset = queryset.alias(lower_email=Lower("email"))
        return super().get_search_results(request, queryset, search_term)

    @badge_column(
        "status",
        delivered="success",
        rejected="warning",
        failed="danger",
        held="info",
        payment_failed="danger",
    )
    def status_badge(self, order: Order) -> tuple[str, str]:
        return order.status, order.get_status_display()

    @badge_column("origin", smoke="info")
    def origin(self, order: Order) -> tuple[str, str]:
        return ("smoke", "smoke test") if order.smoke else ("customer", "customer")

    @admin.display
    def price(self, order: Order) -> str:
        return format_amount(order.price_cents, order.currency)

    def page_context(self, request: HttpRequest, obj: Order) -> dict[str, Any]:
        email = resendable_email(obj)
        verdicts = Verdict.objects.filter(order=obj).order_by("id")
        may_read = is_allowed(request, VIEW_CUSTOMER)
        return {
            "order": obj,
            "session": self.session(obj),
            "verdicts": [(one, _text(obj, one)) for one in verdicts]
            if may_read
            else [(one, None) for one in verdicts.defer("payload")],
            "cases": obj.cases.select_related("closed_by").order_by("id"),
            "deliveries": obj.deliveries.order_by("id"),
            "timeline": timeline(obj),
            "last_sent_at": email.sent_at.isoformat() if email and email.sent_at else "",
            "price": self.price(obj),
            "may_resend": bool(
                email and email.state in ENDED and is_allowed(request, DECIDE_CASES)
            ),
            "title": f"Order {obj.pk}",
        }

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.resend_view)
        resend_url = path("<int:order_id>/resend/", view, name="verdicts_order_resend")
        return [resend_url, *super().get_urls()]

    def resend_view(self, request: HttpRequest, order_id: int) -> HttpResponse:
        """Resend the stored email, with a reason; nothing is generated."""
        require(request, VIEW_ORDERS, DECIDE_CASES)
        order = get_object_or_404(Order, pk=order_id)
        set_log_session(order.session_id)
        reason = request.POST.get("reason", "").strip()
        if request.method == "POST" and not reason:
            messages.error(request, "Enter a reason for resending the email.")
        elif request.method == "POST":
            try:
                last_sent_at = parse_datetime(request.POST.get("seen", ""))
                resend(order, who=current_user(request), reason=reason, seen=last_sent_at)
                messages.success(request, "The stored email is being sent again.")
            except CannotResend as error:
                messages.error(request, f"Nothing was sent. {error}")
            except ValueError:  # an invalid date
                messages.error(request, "Nothing was sent. Reload the page and try again.")
        return redirect(PAGE, order_id)


def _text(order: Order, verdict: Verdict) -> PresentedVerdict | None:
    """None if it was erased."""
    return present(order.tier, verdict.payload) if verdict.payload else None
