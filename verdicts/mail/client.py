"""Sending one letter through whichever of Django's mail backends is set.

Maps what goes wrong to the one question that matters: was it taken, or can
nobody tell?
"""

import asyncio
import smtplib
from typing import Final

from django.core.mail import EmailMultiAlternatives

from verdicts.core.errors import MailRefused, MailUncertain
from verdicts.http.deadline import within

DEADLINE: Final = 30.0


def send(
    *,
    to: list[str],
    sender: str,
    reply_to: str,
    subject: str,
    text: str,
    html: str,
    message_id: str,
) -> None:
    """Returns once the server has taken the message. Raises a MailError."""
    message = EmailMultiAlternatives(
        subject=" ".join(subject.split()),  # a line break would start a header
        body=text,
        from_email=sender,
        to=to,
        reply_to=[reply_to],
        headers={"Message-ID": message_id, "Auto-Submitted": "auto-generated"},
    )
    message.attach_alternative(html, "text/html")
    try:
        # In a thread: SMTP's time-out is per read, and a server may dribble for ever.
        within(DEADLINE, asyncio.to_thread(message.send))
    except ValueError as error:  # of Django's; its text quotes the address
        raise MailRefused(f"it cannot be written as a message ({type(error).__name__})") from None
    except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
        raise MailRefused(f"the mail server refused it ({type(error).__name__})") from None
    except ConnectionRefusedError:
        raise MailRefused("there is no mail server at that address") from None
    except (OSError, smtplib.SMTPException) as error:
        raise MailUncertain(f"the mail server did not say ({type(error).__name__})") from None
