"""Reads the result for an HTTP request, for the page and the API alike."""

import logging

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest

from verdicts import clients
from verdicts.core.read_outcomes import RETRY_LATER
from verdicts.http.client_request import client_address
from verdicts.results.outcome import Outcome
from verdicts.results.read import read

logger = logging.getLogger(__name__)


def read_for(request: HttpRequest) -> Outcome:
    """What the reader gets. A database error is not a cache miss (R4)."""
    try:
        return read(
            request.GET.get("session_id", ""),
            address=client_address(request),
            account=clients.stripe_account_for_reader(),
            model=settings.ORACLE_MODEL,
            ask=clients.ask_model_again,
        )
    except DatabaseError as error:
        return without_database(error)


def without_database(error: DatabaseError) -> Outcome:
    # Only its type: its text may quote a row.
    logger.error("the database cannot be used: %s", type(error).__name__)
    return Outcome("try-later", retry_after=RETRY_LATER)
