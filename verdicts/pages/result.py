"""The customer's page: what became of the order, from payment to verdict."""

import logging

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from verdicts import outside
from verdicts.core.body import fingerprint
from verdicts.core.errors import PaymentError, UnknownSession
from verdicts.core.readable import readable
from verdicts.core.sessions import is_session_id
from verdicts.core.tiers import TIER
from verdicts.models import Order, Status, Verdict
from verdicts.services.reread import is_unpaid

logger = logging.getLogger(__name__)

# What a page says of an order, and with which status it says it. DESIGN's table.
UNPAID_PAGE = ("unpaid", 402)
WORKING_PAGE = ("working", 202)
REJECTED_PAGE = ("rejected", 422)
PAGES = {
    Status.CREATED: UNPAID_PAGE,
    Status.EXPIRED: UNPAID_PAGE,
    Status.PAYMENT_FAILED: UNPAID_PAGE,
    Status.AWAITING: WORKING_PAGE,
    Status.PAID: WORKING_PAGE,
    Status.GENERATING: WORKING_PAGE,
    Status.HELD: WORKING_PAGE,
    Status.DELIVERED: ("verdict", 200),
    Status.REJECTED: REJECTED_PAGE,
    Status.FAILED: REJECTED_PAGE,
    Status.ERASED: ("unknown", 410),
}


@never_cache
@require_safe
def result(request: HttpRequest) -> HttpResponse:
    session_id = request.GET.get("session_id", "")
    if not is_session_id(session_id):
        return _page(request, "unknown", 400)
    order = Order.objects.filter(session_id=session_id).first()
    if order is None:
        return _page(request, "unknown", 404)
    try:
        unpaid = is_unpaid(order, account=outside.stripe_account())
    except UnknownSession:
        return _page(request, "unknown", 404)
    except PaymentError as error:
        logger.warning("Stripe cannot be asked: %s", error)
        return _page(request, "later", 503)
    if unpaid is None:  # nobody is told "unpaid" without a look at Stripe
        return _page(request, "asking", 202, order)
    name, status = PAGES[Status(order.status)]
    return _page(request, name, status, order)


def _page(request: HttpRequest, name: str, status: int, order: Order | None = None) -> HttpResponse:
    context: dict[str, object] = {
        "order": order,
        "tier": TIER[order.tier_name] if order else None,
        "support": settings.SUPPORT_EMAIL,
        "sandbox": settings.SANDBOX,
    }
    if order and name == "verdict":
        verdict = Verdict.objects.get(order=order, kind="original")
        context |= {
            "verdict": verdict,
            "reading": readable(order.tier_name, verdict.payload),
            "fingerprint": fingerprint(verdict.payload),
        }
    return render(request, f"result/{name}.html", context, status=status)
