"""JSON request bodies, limited in size and depth: anything else is a 4xx."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from audit.core.json_depth import loads


class TooLarge(APIException):
    status_code = 413
    default_detail = "The body is too large."


class BoundedJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        if len(body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge
        try:
            return loads(body.decode(), object_pairs_hook=_reject_duplicate_keys)
        except ValueError:
            raise ParseError("The body is not JSON.") from None


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The gate must judge exactly what was sent, and parsers differ on duplicates (C12)."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found
