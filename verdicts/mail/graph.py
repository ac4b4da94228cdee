"""Microsoft Graph as a Django email backend: MIME messages by sendMail.

The MIME form keeps our Message-ID and the text beside the HTML. A token is reused until it
expires; a 401 renews it once. Each message has a total deadline; a short Retry-After of a 429 is
waited for inside it, a longer one is reported to the caller.
"""

import asyncio
import base64
import time
from collections.abc import Sequence
from typing import Final

import httpx
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from audit.core.json_depth import loads
from verdicts.core.errors import MailRefused, MailUncertain
from verdicts.http.deadline import loop_id, run_with_deadline

DEADLINE: Final = 20.0
UNAUTHORIZED: Final = 401
TOO_MANY: Final = 429
ACCEPTED: Final = 202
# Seconds of Retry-After up to which the call waits; longer ones are left to the queue.
SHORT_WAIT: Final = 3.0
# Seconds before its expiry at which a token is renewed.
EARLY: Final = 60.0

# One connection pool per process and event loop, and one token for all of them.
_clients: dict[int, httpx.AsyncClient] = {}
_token: tuple[str, float] | None = None


class GraphBackend(BaseEmailBackend):
    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            try:
                run_with_deadline(DEADLINE, _send(_client(), message))
            except (TimeoutError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ReadError):
                raise MailUncertain("Graph did not say whether it accepted the message") from None
            except httpx.HTTPError as error:
                raise MailRefused(f"Graph is unreachable ({type(error).__name__})") from None
        return len(email_messages)


async def _send(client: httpx.AsyncClient, message: EmailMessage) -> None:
    body = base64.b64encode(message.message().as_bytes())
    url = f"{settings.GRAPH_URL}/v1.0/users/{settings.GRAPH_SENDER}/sendMail"
    token, renewed = await _access_token(client), False
    while True:
        answer = await client.post(
            url,
            content=body,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "text/plain"},
        )
        if answer.status_code == ACCEPTED:
            return
        if answer.status_code == UNAUTHORIZED and not renewed:
            token, renewed = await _access_token(client, renew=True), True
        elif answer.status_code == TOO_MANY and _retry_after(answer) <= SHORT_WAIT:
            await asyncio.sleep(_retry_after(answer))  # the deadline ends it
        else:
            wait = _retry_after(answer) if answer.status_code == TOO_MANY else 0
            raise MailRefused(f"Graph answered {answer.status_code}", retry_after=wait)


async def _access_token(client: httpx.AsyncClient, *, renew: bool = False) -> str:
    global _token  # noqa: PLW0603 - shared on purpose
    if _token and not renew and time.monotonic() < _token[1]:
        return _token[0]
    answer = await client.post(
        f"{settings.GRAPH_LOGIN_URL}/{settings.GRAPH_TENANT}/oauth2/v2.0/token",
        data={
            "grant_type": "client_credentials",
            "client_id": settings.GRAPH_CLIENT_ID,
            "client_secret": settings.GRAPH_CLIENT_SECRET,
            "scope": "https://graph.microsoft.com/.default",
        },
    )
    if answer.is_error:
        raise MailRefused(f"Graph gave no token ({answer.status_code})")
    try:
        granted = loads(answer.text)
        token, seconds = str(granted["access_token"]), float(granted["expires_in"])
    except (ValueError, KeyError, TypeError):
        raise MailRefused("Graph's answer contains no token") from None
    _token = (token, time.monotonic() + seconds - EARLY)
    return token


def _retry_after(answer: httpx.Response) -> float:
    try:
        return max(0.1, float(answer.headers.get("Retry-After", 1)))
    except ValueError:
        return 1.0


def _client() -> httpx.AsyncClient:
    now = loop_id()
    if now not in _clients:
        _clients.clear()
        _clients[now] = httpx.AsyncClient(timeout=10, trust_env=False)
    return _clients[now]
