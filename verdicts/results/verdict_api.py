"""`GET /api/verdict`: the verdict, or why there is none."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.utils.http import parse_etags
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.core.vocabulary import LABELS, TIERS, UNKNOWN
from verdicts.api.private_view import PrivateView
from verdicts.api.problem import CONTENT_TYPE, documented, outcome_problem
from verdicts.core.read_outcomes import READ_OUTCOMES
from verdicts.core.sessions import SESSION_ID
from verdicts.models import CachedVerdict
from verdicts.results.outcome import Outcome
from verdicts.results.read_request import read_for


class DivergenceSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=["pending", "checked", "skipped"])
    level = serializers.ChoiceField(choices=["none", "minor", "significant"], allow_null=True)
    emailed_verdict = serializers.ChoiceField(
        choices=[*LABELS, UNKNOWN], help_text="What was emailed; it is the authoritative one."
    )
    disclaimer = serializers.CharField(allow_null=True)


class VerdictSerializer(serializers.Serializer[Any]):
    tier = serializers.ChoiceField(choices=TIERS)
    query = serializers.CharField()
    verdict = serializers.DictField(help_text="What the model said, as the gate approved it.")
    cached_at = serializers.DateTimeField()
    regen = serializers.BooleanField(
        help_text="Whether it was regenerated because the cache had lost it."
    )
    regen_reason = serializers.ChoiceField(choices=["cache_miss"], allow_null=True)
    divergence = DivergenceSerializer(allow_null=True, help_text="Null for an original.")
    refunded_at = serializers.DateTimeField(required=False)


class WorkingSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=["working", "asking", "regenerating"])
    stage = serializers.CharField(help_text="Where the order stands.")
    detail = serializers.CharField()
    retry_after = serializers.IntegerField(help_text="Seconds until it is worth asking again.")


class VerdictView(PrivateView):
    @extend_schema(
        operation_id="verdict",
        summary="The verdict of a Checkout session",
        parameters=[
            OpenApiParameter(
                "session_id",
                OpenApiTypes.STR,
                required=True,
                pattern=f"^{SESSION_ID.pattern}$",
                description="Stripe's id of the Checkout session: the key to its verdict.",
            ),
            OpenApiParameter("If-None-Match", OpenApiTypes.STR, OpenApiParameter.HEADER),
        ],
        responses={
            200: VerdictSerializer,
            202: WorkingSerializer,
            304: OpenApiResponse(description="Not modified: your copy is current."),
            (400, CONTENT_TYPE): documented("No session id."),
            (402, CONTENT_TYPE): documented("Not paid."),
            (404, CONTENT_TYPE): documented("Unknown here and to Stripe."),
            (410, CONTENT_TYPE): documented("Erased at the customer's request."),
            (422, CONTENT_TYPE): documented("`rejected` by the gate, or `failed`."),
            (429, CONTENT_TYPE): documented("`too-soon`, or `too-many` unknown ids."),
            (503, CONTENT_TYPE): documented("`try-later`, or `model-retired`."),
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        outcome = read_for(request._request)  # noqa: SLF001 - DRF has no other name for it
        if outcome.entry:
            return cached(request, outcome.entry)
        if outcome.status == 202:
            return _working(outcome)
        return outcome_problem(
            outcome.name, emailed=outcome.emailed, retry_after=outcome.retry_after
        )


def etag_matches(if_none_match: str, etag: str) -> bool:
    """`etag` includes its quotes. Weak comparison, as RFC 9110 requires; `*` always matches."""
    return any(one in ("*", etag, f"W/{etag}") for one in parse_etags(if_none_match))


def cached(request: Request, entry: CachedVerdict) -> HttpResponse:
    """The cached response, or 304 for a client that has it."""
    if etag_matches(request.headers.get("If-None-Match", ""), entry.etag):
        return HttpResponseNotModified(headers={"ETag": entry.etag})
    return whole(entry)


def whole(entry: CachedVerdict, *, status: int = 200) -> HttpResponse:
    return HttpResponse(
        entry.body, status=status, content_type="application/json", headers={"ETag": entry.etag}
    )


def _working(outcome: Outcome) -> Response:
    body = {
        "status": outcome.name,
        "stage": outcome.order.status if outcome.order else "",
        "detail": READ_OUTCOMES[outcome.name].detail,
        "retry_after": outcome.retry_after,
    }
    headers = {"Retry-After": str(outcome.retry_after)}
    return Response(body, status=outcome.status, headers=headers)
