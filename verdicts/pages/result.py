"""The customer's page: what became of the order, from payment to verdict."""

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from verdicts.core.body import fingerprint
from verdicts.core.readable import readable
from verdicts.core.tiers import TIER
from verdicts.models import CachedVerdict
from verdicts.reading import read_for
from verdicts.services.outcome import SOON


@require_safe
def result(request: HttpRequest) -> HttpResponse:
    outcome = read_for(request)
    context: dict[str, object] = {
        "outcome": outcome,
        "order": outcome.order,
        "support": settings.SUPPORT_EMAIL,
        "sandbox": settings.SANDBOX,
        "look_again": outcome.retry_after,
    }
    if outcome.entry:
        context |= _verdict(outcome.entry)
    response = render(request, f"result/{outcome.name}.html", context, status=outcome.status)
    response["Cache-Control"] = "private, no-cache"
    if outcome.retry_after:
        response["Retry-After"] = str(outcome.retry_after)
    return response


def _verdict(entry: CachedVerdict) -> dict[str, object]:
    """From the answer itself, so that the page cannot say anything else than the API."""
    answer = json.loads(entry.body)
    comparing = answer["regen"] and answer["divergence"]["status"] == "pending"
    return {
        "look_again": SOON if comparing else 0,
        "answer": answer,
        "tier": TIER[answer["tier"]],
        "reading": readable(answer["tier"], answer["verdict"]),
        "made_at": entry.verdict.created_at,
        "fingerprint": fingerprint(answer["verdict"]),
    }
