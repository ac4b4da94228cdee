"""The gateways with this site's addresses, keys and deadlines: what entry points pass in."""

from django.conf import settings

from verdicts.core.lock import ModelRequest
from verdicts.gateways import gemini, mail
from verdicts.gateways.stripe_api import Account
from verdicts.services.letters import Letter


def ask_model(request: ModelRequest) -> gemini.Answer:
    endpoint = gemini.Endpoint(
        settings.GEMINI_API_KEY, settings.GEMINI_URL, settings.ORACLE_MODEL_DEADLINE
    )
    return gemini.generate(request, endpoint)


def stripe_account() -> Account:
    return Account(settings.STRIPE_SECRET_KEY, settings.STRIPE_URL)


def send_letter(letter: Letter) -> None:
    mail.send(
        to=letter.to,
        sender=settings.DEFAULT_FROM_EMAIL,
        reply_to=settings.SUPPORT_EMAIL,
        subject=letter.subject,
        text=letter.text,
        html=letter.html,
        message_id=letter.message_id,
    )
