"""The Gemini, Stripe and mail clients, configured from this site's settings."""

from dataclasses import replace
from typing import Final

from django.conf import settings

from verdicts.core.request_config import ModelRequest
from verdicts.generation import client as gemini
from verdicts.mail.client import send as send_message
from verdicts.payments.client import Account

__all__ = [
    "ask_model",
    "ask_model_again",
    "send_message",
    "stripe_account",
    "stripe_account_for_reader",
]

READER_STRIPE_TIMEOUT: Final = 4.0
# Maximum seconds between two tries while the quota is used up: a reader is waiting.
READER_QUOTA_WAIT: Final = 0.5


def ask_model(request: ModelRequest) -> gemini.Answer:
    return gemini.generate(request, _endpoint(settings.ORACLE_MODEL_DEADLINE))


def ask_model_again(request: ModelRequest) -> gemini.Answer:
    """For a waiting reader. At most one reader per process waits for the quota."""
    deadline = settings.ORACLE_REGENERATION_DEADLINE
    endpoint = replace(_endpoint(deadline), max_wait=READER_QUOTA_WAIT)
    return gemini.generate(request, endpoint, lambda: gemini.waiting_for_quota.acquire(limit=1))


# Chooses the payment provider for every entry point.
def stripe_account() -> Account:
    return Account(settings.STRIPE_SECRET_KEY, settings.STRIPE_URL)


def stripe_account_for_reader() -> Account:
    """With a short timeout: a regeneration may follow, and a read takes 30 s at most."""
    return Account(settings.STRIPE_SECRET_KEY, settings.STRIPE_URL, deadline=READER_STRIPE_TIMEOUT)


def _endpoint(deadline: float) -> gemini.Endpoint:
    return gemini.Endpoint(settings.GEMINI_API_KEY, settings.GEMINI_URL, deadline)
