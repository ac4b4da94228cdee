"""`GET /oracle/result`: the customer's page, from payment to verdict."""

import json
from datetime import timedelta
from typing import Final

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from verdicts.core.charts.radar import radar_chart
from verdicts.core.label_texts import MEANING
from verdicts.core.presentation import present, strip_control_characters
from verdicts.core.read_outcomes import RETRY_SOON
from verdicts.core.response_body import fingerprint
from verdicts.core.tiers import TIER, Price
from verdicts.models import CachedVerdict, Order, Verdict
from verdicts.results import progress
from verdicts.results.email_status import email_status
from verdicts.results.outcome import Outcome
from verdicts.results.read_request import read_for, without_database

# While its email is retried in the background, an open page is not reloaded every two seconds.
FRESH: Final = timedelta(seconds=30)
RETRY_SLOWLY: Final = 30


@require_safe
def result(request: HttpRequest) -> HttpResponse:
    try:
        return _page(request, read_for(request))
    except DatabaseError as error:  # it failed after the outcome was read
        return _page(request, without_database(error))


def _page(request: HttpRequest, outcome: Outcome) -> HttpResponse:
    context: dict[str, object] = {"outcome": outcome, "refresh_after": outcome.retry_after}
    if outcome.entry:
        context |= _verdict(outcome.entry)
    elif outcome.order:
        context |= _order(outcome.order)
        if outcome.name == "working":
            context |= _progress(outcome.order)
    response = render(request, f"result/{outcome.name}.html", context, status=outcome.status)
    response["Cache-Control"] = "private, no-cache"
    response["Referrer-Policy"] = "no-referrer"  # the address holds the key to a verdict
    if outcome.retry_after:
        response["Retry-After"] = str(outcome.retry_after)
    return response


def _order(order: Order) -> dict[str, object]:
    return {
        "order": order,
        "tier": TIER[order.tier],
        "price": Price(order.price_cents, order.currency),
        "refunded": Price(order.refunded_cents, order.currency),
        "under_review": order.cases.filter(closed_at=None).exists(),
    }


def _progress(order: Order) -> dict[str, object]:
    return {"steps": progress.steps(progress.reached(order)), "is_long": progress.is_long(order)}


def _verdict(entry: CachedVerdict) -> dict[str, object]:
    """From the cached response itself, so that page and API state the same."""
    answer = json.loads(entry.body)
    verdict = entry.verdict
    email = progress.verdict_email(verdict.order_id)
    status = email_status(answer, order_id=verdict.order_id, email=email)
    reading = present(answer["tier"], answer["verdict"])
    return {
        **_order(verdict.order),
        "answer": answer,
        "asked": strip_control_characters(answer["query"]),
        "reading": reading,
        "meaning": MEANING[answer["verdict"]["verdict"]],
        "picture": radar_chart(reading.dimensions),
        "made_at": verdict.created_at,
        "fingerprint": fingerprint(answer["verdict"]),
        "email_status": status,
        "sent_at": email.sent_at if email else None,
        "steps": progress.steps(progress.SENDING) if status.name == "sending" else None,
        "refresh_after": _refresh_after(verdict) if status.name in ("sending", "comparing") else 0,
    }


def _refresh_after(verdict: Verdict) -> int:
    return RETRY_SOON if verdict.created_at > timezone.now() - FRESH else RETRY_SLOWLY
