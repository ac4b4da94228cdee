"""`GET/POST /cache/{session_id}`: the cache service's interface, for its clients."""

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from audit.core.crosscheck import Decision
from audit.core.vocabulary import TIERS
from verdicts.api.fields import QueryField
from verdicts.api.problem import CONTENT_TYPE, documented, outcome_problem, problem
from verdicts.api.service_token import ServiceView
from verdicts.core.sessions import SESSION_ID, is_session_id
from verdicts.models import Order, Status
from verdicts.results import cache
from verdicts.results.restore import restore
from verdicts.results.verdict_api import VerdictSerializer, cached, whole

SESSION = OpenApiParameter(
    "session_id",
    OpenApiTypes.STR,
    OpenApiParameter.PATH,
    pattern=f"^{SESSION_ID.pattern}$",
)


class EntrySerializer(serializers.Serializer[Any]):
    """The body as `GET` gives it; what is not listed here is ignored."""

    tier = serializers.ChoiceField(choices=TIERS)
    query = QueryField(required=False)
    verdict = serializers.DictField()


class CacheView(ServiceView):
    @extend_schema(
        operation_id="cache_read",
        summary="The cached answer; never makes a new one",
        parameters=[SESSION],
        responses={
            200: VerdictSerializer,
            (400, CONTENT_TYPE): documented("No session id."),
            (401, CONTENT_TYPE): documented("No service token."),
            (404, CONTENT_TYPE): documented("Not cached: a miss."),
        },
    )
    def get(self, request: Request, session_id: str) -> HttpResponseBase:
        if not is_session_id(session_id):
            return outcome_problem("malformed")
        entry = cache.find(session_id)
        if entry is None:
            return problem("miss", 404, "Not cached", "There is no cached answer: a miss.")
        return cached(request, entry)

    @extend_schema(
        operation_id="cache_write",
        summary="Cache a verdict that was made elsewhere, if it passes the gate",
        parameters=[SESSION],
        request=EntrySerializer,
        responses={
            201: VerdictSerializer,
            (400, CONTENT_TYPE): documented("No session id, or a body that does not fit."),
            (401, CONTENT_TYPE): documented("No service token."),
            (404, CONTENT_TYPE): documented("Unknown session."),
            (409, CONTENT_TYPE): documented("Another tier or query, or nothing was delivered yet."),
            (410, CONTENT_TYPE): documented("Erased."),
            (413, CONTENT_TYPE): documented("Too large."),
            (415, CONTENT_TYPE): documented("Not JSON."),
            (422, CONTENT_TYPE): documented("Rejected by the gate."),
        },
    )
    def post(self, request: Request, session_id: str) -> HttpResponseBase:
        if not is_session_id(session_id):
            return outcome_problem("malformed")
        given = EntrySerializer(data=request.data)
        given.is_valid(raise_exception=True)
        order = Order.objects.filter(session_id=session_id).first()
        if order is None:
            return outcome_problem("unknown")
        refusal = _refusal(order, given.validated_data)
        if refusal:
            return refusal
        decision = restore(order, given.validated_data["verdict"])
        return _restored(session_id, decision)


def _restored(session_id: str, decision: Decision | None) -> HttpResponseBase:
    if decision is None:
        return _conflict("Only a delivered order has a cached verdict.")
    if not decision.approved:
        return outcome_problem("rejected")
    entry = cache.find(session_id)
    if entry is None:
        return _conflict("It was removed again at once.")
    return whole(entry, status=status.HTTP_201_CREATED)


def _refusal(order: Order, given: dict[str, Any]) -> Response | None:
    if order.status == Status.ERASED:
        return outcome_problem("erased")
    if given["tier"] != order.tier:
        return _conflict(f"The order is of tier {order.tier}.")
    if given.get("query", order.query) != order.query:
        return _conflict("The order asked something else.")
    return None


def _conflict(detail: str) -> Response:
    return problem("conflict", 409, "Does not fit the order", detail)
