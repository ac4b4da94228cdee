"""The gateways with this site's addresses, keys and deadlines: what entry points pass in."""

from dataclasses import replace
from typing import Final

from django.conf import settings

from verdicts.core.request_config import ModelRequest
from verdicts.generation import client as gemini
from verdicts.mail import client as mail
from verdicts.mail.messages import Message
from verdicts.payments.client import Account

READER_STRIPE_TIMEOUT: Final = 4.0
# Seconds between two looks at a full quota: more often than workers, whom nobody watches.
READER_LOOKS: Final = 0.5


def ask_model(request: ModelRequest) -> gemini.Answer:
    return gemini.generate(request, _endpoint(settings.ORACLE_MODEL_DEADLINE))


def ask_model_again(request: ModelRequest) -> gemini.Answer:
    """For a reader who waits. One of them waits for a full quota, lest they starve each other."""
    deadline = settings.ORACLE_REGENERATION_DEADLINE
    endpoint = replace(_endpoint(deadline), longest_wait=READER_LOOKS)
    return gemini.generate(request, endpoint, lambda: gemini.waiting_for_quota.take(of=1))


def stripe_account() -> Account:
    return Account(settings.STRIPE_SECRET_KEY, settings.STRIPE_URL)


def stripe_account_for_reader() -> Account:
    """With little patience: a regeneration may follow, and all of it takes 30 s at most."""
    return Account(settings.STRIPE_SECRET_KEY, settings.STRIPE_URL, deadline=READER_STRIPE_TIMEOUT)


def send_message(message: Message) -> None:
    mail.send(
        to=message.to,
        sender=settings.DEFAULT_FROM_EMAIL,
        reply_to=settings.SUPPORT_EMAIL,
        subject=message.subject,
        text=message.text,
        html=message.html,
        message_id=message.message_id,
    )


def _endpoint(deadline: float) -> gemini.Endpoint:
    return gemini.Endpoint(settings.GEMINI_API_KEY, settings.GEMINI_URL, deadline)
