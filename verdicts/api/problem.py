"""Every API error as application/problem+json (RFC 9457).

`type` is a slug that clients may rely on; `detail` says what happened and what
to do; `support` is the support address.
"""

import logging
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from audit.core.vocabulary import LABELS
from verdicts.core.read_outcomes import READ_OUTCOMES, RETRY_LATER, Name, detail

logger = logging.getLogger(__name__)

CONTENT_TYPE: Final = "application/problem+json"

# Errors that Django REST framework raises.
SLUGS: Final = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "unknown",
    405: "method-not-allowed",
    406: "not-acceptable",
    413: "too-large",
    415: "unsupported-media-type",
    429: "too-many",
}


class ProblemSerializer(serializers.Serializer[Any]):
    type = serializers.CharField(help_text="A slug that clients may rely on.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What happened, and what to do about it.")
    support = serializers.EmailField(help_text="The support address.")
    emailed_verdict = serializers.ChoiceField(
        choices=LABELS,
        required=False,
        help_text="The emailed verdict, which remains valid, if a regeneration failed.",
    )
    errors = serializers.DictField(  # type: ignore[assignment]  # a field, not the property
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="The errors of each field of the request.",
    )


def problem(
    slug: str, status: int, title: str, detail: str, *, retry_after: int = 0, **more: Any
) -> Response:
    body = {"type": slug, "title": title, "status": status, "detail": detail}
    headers = {"Retry-After": str(retry_after)} if retry_after else {}
    return Response(
        {**body, "support": settings.SUPPORT_EMAIL, **more},
        status=status,
        headers=headers,
        content_type=CONTENT_TYPE,
    )


def outcome_problem(name: Name, *, emailed: str = "", retry_after: int = 0) -> Response:
    """The problem of a read outcome, from its table; `emailed` is the emailed label, if any."""
    outcome = READ_OUTCOMES[name]
    more = {"emailed_verdict": emailed} if emailed else {}
    text = detail(name, emailed)
    return problem(name, outcome.status, outcome.title, text, retry_after=retry_after, **more)


def documented(description: str) -> OpenApiResponse:
    return OpenApiResponse(ProblemSerializer, description=description)


def as_problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's exception handler; an unavailable database is a 503 as well."""
    if isinstance(error, DatabaseError):
        logger.error("the database cannot be used: %s", type(error).__name__)
        return outcome_problem("try-later", retry_after=RETRY_LATER)
    response = exception_handler(error, context)
    if response is None:
        return None
    slug = SLUGS.get(response.status_code, "error")
    detail = str(error.detail) if isinstance(error, APIException) else response.status_text
    more: dict[str, Any] = {}
    if isinstance(error, ValidationError):
        detail = "The request is invalid; `errors` lists why, by field."
        more["errors"] = _by_field(response.data)
    found = problem(slug, response.status_code, response.status_text, detail, **more)
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in response:
            found[name] = response[name]
    return found


def _by_field(data: Any) -> dict[str, list[str]]:
    if isinstance(data, dict):
        return {name: [str(one) for one in _as_list(errors)] for name, errors in data.items()}
    return {"body": [str(one) for one in _as_list(data)]}


def _as_list(errors: Any) -> list[Any]:
    return errors if isinstance(errors, list) else [errors]
