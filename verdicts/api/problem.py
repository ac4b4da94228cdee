"""Every error of the API as application/problem+json, in words that a person can act on.

`type` is a slug and contract; `detail` says what happened and what to do, and
each names the support address.
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

# Errors of HTTP itself, which Django REST framework finds.
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
    type = serializers.CharField(help_text="A slug that programs can rely on.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What happened, and what to do about it.")
    support = serializers.EmailField(help_text="Who helps.")
    emailed_verdict = serializers.ChoiceField(
        choices=LABELS,
        required=False,
        help_text="The verdict that was emailed and stands, where a regeneration came to nothing.",
    )
    errors = serializers.DictField(  # type: ignore[assignment]  # a field, not the property
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="What is wrong with each field of the request.",
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
    """The problem of a read outcome, as the table has it; `emailed` is the label that stands."""
    outcome = READ_OUTCOMES[name]
    more = {"emailed_verdict": emailed} if emailed else {}
    said = detail(name, emailed)
    return problem(name, outcome.status, outcome.title, said, retry_after=retry_after, **more)


def documented(description: str) -> OpenApiResponse:
    return OpenApiResponse(ProblemSerializer, description=description)


def as_problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """What Django REST framework raises, and a database that is down, like all other errors."""
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
        detail = "The request does not fit; `errors` says why, field by field."
        more["errors"] = _by_field(response.data)
    said = problem(slug, response.status_code, response.status_text, detail, **more)
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in response:
            said[name] = response[name]
    return said


def _by_field(data: Any) -> dict[str, list[str]]:
    if isinstance(data, dict):
        return {name: [str(one) for one in _listed(errors)] for name, errors in data.items()}
    return {"body": [str(one) for one in _listed(data)]}


def _listed(errors: Any) -> list[Any]:
    return errors if isinstance(errors, list) else [errors]
