"""What the outside world has seen: payments, messages that were taken, questions to the model."""

import re
from collections import Counter
from hashlib import sha256
from typing import Final

from drill.invariants.facts import Mail, OutsideFacts, number_in
from sandbox.client import SandboxClient

_TOLD: Final = re.compile(r"^Order (\d+) is ", re.MULTILINE)


def outside_facts(sandbox: SandboxClient) -> OutsideFacts:
    asked: dict[int, Counter[str]] = {}
    for request in sandbox.requests("gemini"):
        asked.setdefault(number_in(request["body"]), Counter())[request["fault"] or ""] += 1
    sessions = sandbox.sessions()
    paid_back = {
        event["data"]["object"]["payment_intent"]
        for event in sandbox.events()
        if event["type"] == "charge.refunded"
    }
    return OutsideFacts(
        paid={
            str(session["id"]): number_in(str(session["metadata"]))
            for session in sessions
            if session["payment_status"] == "paid"
        },
        refunded={str(one["id"]) for one in sessions if one["payment_intent"] in paid_back},
        mail=[
            Mail(
                to=str(message["to"][0]),
                subject=str(message["subject"]),
                message_id=str(message["message_id"]),
                digest=sha256(str(message["text"]).encode()).hexdigest(),
                about=_order_in(str(message["text"])),
            )
            for message in sandbox.messages()
        ],
        asked=asked,
    )


def _order_in(text: str) -> int:
    """The order that staff are told of; 0: of none."""
    found = _TOLD.search(text)
    return int(found.group(1)) if found else 0


def leaks_in_mail(sandbox: SandboxClient, canary: str) -> list[str]:
    return [
        f"the email {message['subject']!r}"
        for message in sandbox.messages()
        if canary in f"{message['subject']} {message['text']} {message['html']}"
    ]
