"""Collects what the sandbox recorded: payments, refunds, accepted mail and model requests."""

import re
from collections import Counter, defaultdict
from hashlib import sha256
from typing import Final

from drill.invariants.facts import Mail, SandboxFacts, number_in
from sandbox.client import SandboxClient

# Staff emails link to the order in the console.
_ORDER_LINK: Final = re.compile(r"/admin/verdicts/order/(\d+)/")


def sandbox_facts(sandbox: SandboxClient) -> SandboxFacts:
    requests: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for request in sandbox.requests("gemini"):
        requests[number_in(request["body"])][request["fault"] or ""] += 1
    sessions = sandbox.sessions()
    refunded = {
        event["data"]["object"]["payment_intent"]
        for event in sandbox.events()
        if event["type"] == "charge.refunded"
    }
    return SandboxFacts(
        paid={
            str(session["id"]): number_in(str(session["metadata"]))
            for session in sessions
            if session["payment_status"] == "paid"
        },
        refunded={str(one["id"]) for one in sessions if one["payment_intent"] in refunded},
        mail=[
            Mail(
                to=str(message["to"][0]),
                subject=str(message["subject"]),
                message_id=str(message["message_id"]),
                digest=sha256(str(message["text"]).encode()).hexdigest(),
                order=_order_in(str(message["text"])),
            )
            for message in sandbox.messages()
        ],
        model_requests=dict(requests),
    )


def _order_in(text: str) -> int:
    """The primary key of the order that the text links to; 0 without one."""
    found = _ORDER_LINK.search(text)
    return int(found.group(1)) if found else 0


def leaks_in_mail(sandbox: SandboxClient, canary: str) -> list[str]:
    return [
        f"the email {message['subject']!r}"
        for message in sandbox.messages()
        if canary in f"{message['subject']} {message['text']} {message['html']}"
    ]
