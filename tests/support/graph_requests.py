"""Sends mail to the sandbox's Graph the way the product does: get a token, post base64 MIME."""

from base64 import b64encode
from email.message import EmailMessage

import httpx

SENDER = "oracle@example.com"


def message(subject: str = "Your verdict is GREEN", to: str = "ada@example.com") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = f"Oracle <{SENDER}>"
    mail["To"] = to
    mail["Subject"] = subject
    mail["Message-ID"] = "<verdict-1@oracle.example>"
    mail.set_content("The verdict is GREEN – it holds.\n")
    mail.add_alternative("<h1>GREEN</h1><script>alert(1)</script>", subtype="html")
    return mail


def token(web: httpx.Client, secret: str = "sandbox") -> httpx.Response:  # noqa: S107 - not a secret
    form = {
        "client_id": "oracle",
        "client_secret": secret,
        "scope": "https://graph.microsoft.com/.default",
        "grant_type": "client_credentials",
    }
    return web.post("/tenant-1/oauth2/v2.0/token", data=form)


def send(web: httpx.Client, mail: EmailMessage, bearer: str | None = None) -> httpx.Response:
    bearer = bearer or token(web).json()["access_token"]
    return web.post(
        f"/v1.0/users/{SENDER}/sendMail",
        content=b64encode(mail.as_bytes()),
        headers={"Authorization": f"Bearer {bearer}", "Content-Type": "text/plain"},
    )
