"""The shop window."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from verdicts.core.tiers import TIER


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    offers = [(tier, settings.ORACLE_PRICES[name]) for name, tier in TIER.items()]
    return render(request, "landing.html", {"offers": offers, "support": settings.SUPPORT_EMAIL})
