"""Sends one message through the Django email backend that ORACLE_MAIL selects.

Errors are mapped to what the outbox must know: the server refused the message (MailRefused), or
it may have accepted it (MailUncertain).
"""

import asyncio
import smtplib
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from verdicts.core.errors import MailRefused, MailUncertain
from verdicts.http.deadline import run_with_deadline

DEADLINE: Final = 30.0


@dataclass(frozen=True, slots=True)
class Message:
    to: list[str]
    subject: str
    text: str
    html: str
    message_id: str
    label: str = ""  # the verdict that the message carries, if it carries one


def send(message: Message) -> None:
    """Returns once the server has accepted the message. Raises a MailError."""
    mime = EmailMultiAlternatives(
        subject=" ".join(message.subject.split()),  # a line break would start a header
        body=message.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=message.to,
        reply_to=[settings.SUPPORT_EMAIL],
        headers={"Message-ID": message.message_id, "Auto-Submitted": "auto-generated"},
    )
    mime.attach_alternative(message.html, "text/html")
    try:
        # In a thread with a total deadline: SMTP's time-out is per read.
        run_with_deadline(DEADLINE, asyncio.to_thread(mime.send))
    except ValueError as error:  # of Django's; its text quotes the address
        raise MailRefused(f"the message is not valid ({type(error).__name__})") from None
    except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
        raise MailRefused(f"the mail server refused it ({type(error).__name__})") from None
    except ConnectionRefusedError:
        raise MailRefused("there is no mail server at that address") from None
    except (OSError, smtplib.SMTPException) as error:
        raise MailUncertain(f"no answer from the mail server ({type(error).__name__})") from None
