"""A reader's request, as the page and the API both take it."""

import logging

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest

from verdicts import outside
from verdicts.services.outcome import LATER, Outcome
from verdicts.services.result import read

logger = logging.getLogger(__name__)


def read_for(request: HttpRequest) -> Outcome:
    """What the reader gets. A database that cannot be read is no miss (R4)."""
    try:
        return read(
            request.GET.get("session_id", ""),
            address=client_address(request),
            account=outside.stripe_account_for_reader(),
            model=settings.ORACLE_MODEL,
            ask=outside.ask_model_again,
        )
    except DatabaseError as error:
        return without_database(error)


def without_database(error: DatabaseError) -> Outcome:
    # Only its kind: its text may quote a row.
    logger.error("the database cannot be used: %s", type(error).__name__)
    return Outcome("try-later", retry_after=LATER)


def client_address(request: HttpRequest) -> str:
    """Whom we count as one: behind our proxy, whoever it says that it speaks for."""
    if settings.BEHIND_PROXY:
        forwarded = request.headers.get("X-Forwarded-For", "")
        return forwarded.rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))
