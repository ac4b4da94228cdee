"""Parses the message in a sendMail request: base64 of MIME, or Graph's JSON."""

import binascii
from base64 import b64decode
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses, parseaddr
from typing import Any

from sandbox.graph.errors import GraphError
from sandbox.graph.mailbox import Mail
from sandbox.http_messages import BadRequest, Request


def read_message(request: Request, sender: str) -> Mail:
    """The mail in the request, or GraphError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    mail = _from_mime(request.body, sender) if kind == "text/plain" else _from_json(request, sender)
    if not mail.to:
        raise GraphError(
            400, "ErrorInvalidRecipients", "At least one recipient isn't valid, or there is none."
        )
    address = parseaddr(mail.sent_from)[1]
    if address.casefold() != sender.casefold():
        raise GraphError(
            403,
            "ErrorSendAsDenied",
            "The user account which was used to submit this request does not have the right to "
            f"send mail on behalf of the specified sending account: {address or 'nobody'}.",
        )
    return mail


def _from_mime(body: bytes, sender: str) -> Mail:
    try:
        raw = b64decode(b"".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        raise GraphError(
            400, "ErrorMimeContentInvalidBase64String", "Invalid base64 string for MIME content."
        ) from None
    message = message_from_bytes(raw, policy=policy.default)
    addressed = [str(message[name]) for name in ("To", "Cc", "Bcc") if message[name]]
    return Mail(
        sender=sender,
        sent_from=str(message["From"] or ""),
        to=tuple(address for _, address in getaddresses(addressed) if "@" in address),
        subject=str(message["Subject"] or ""),
        message_id=str(message["Message-ID"]).strip() if message["Message-ID"] else None,
        text=_part(message, "plain"),
        html=_part(message, "html"),
        headers=tuple((name, str(value)) for name, value in message.items()),
        raw=raw,
    )


def _part(message: EmailMessage, kind: str) -> str | None:
    part = message.get_body((kind,))
    if part is None:
        return None
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError):  # unknown character set
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else None


def _from_json(request: Request, sender: str) -> Mail:
    try:
        message = dict(request.json()["message"])
        body = message["body"]
        is_html = body["contentType"].lower() == "html"
        content = str(body["content"])
        given = [*message["toRecipients"], *message.get("ccRecipients", ())]
        to = tuple(_address(each) for each in given)
        sent_from = _address(message["from"]) if message.get("from") else sender
        headers = tuple(
            (str(each["name"]), str(each["value"]))
            for each in message.get("internetMessageHeaders", ())
        )
    except (BadRequest, KeyError, TypeError, ValueError, AttributeError):
        raise GraphError(
            400, "BadRequest", "Unable to read JSON request payload: a message has a body and "
            "toRecipients."
        ) from None  # fmt: skip
    return Mail(
        sender=sender,
        sent_from=sent_from,
        to=tuple(address for address in to if "@" in address),
        subject=str(message.get("subject") or ""),
        message_id=None,
        text=None if is_html else content,
        html=content if is_html else None,
        headers=headers,
        raw=request.body,
    )


def _address(recipient: Any) -> str:
    return str(recipient["emailAddress"]["address"])
