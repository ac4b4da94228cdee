"""How the verdict on the page relates to the emailed one: one of eight states."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from audit.core.vocabulary import UNKNOWN
from verdicts.core.response_body import fingerprint
from verdicts.models import Delivery, Verdict
from verdicts.results.progress import on_its_way

Name = Literal[
    "sending",  # the original, its email pending
    "emailed",  # the original, as emailed
    "unsent",  # the original, whose email could not be sent
    "comparing",  # regenerated, not compared yet
    "same-text",  # regenerated, the same text
    "same-verdict",  # regenerated, the same verdict in other words
    "differs",  # regenerated, another verdict
    "unrecorded",  # regenerated, no original to compare with
]

_UNSENT: Final = (Delivery.State.FAILED, Delivery.State.UNCERTAIN)


@dataclass(frozen=True, slots=True)
class EmailStatus:
    name: Name
    emailed: str = ""  # the emailed label
    fingerprint: str = ""  # of the emailed text, where it is stored


def email_status(answer: dict[str, Any], *, order_id: int, email: Delivery | None) -> EmailStatus:
    """From the response itself, and from the stored original, whose text was emailed."""
    divergence = answer["divergence"]
    if divergence is None:
        return EmailStatus(_of_original(email))
    emailed = divergence["emailed_verdict"]
    if emailed == UNKNOWN or divergence["status"] == "skipped":
        return EmailStatus("unrecorded")
    original = Verdict.objects.filter(order=order_id, kind="original").first()
    printed = fingerprint(original.payload) if original else ""
    if divergence["status"] == "pending":
        return EmailStatus("comparing", emailed, printed)
    if divergence["level"] != "none":
        return EmailStatus("differs", emailed, printed)
    same = printed == fingerprint(answer["verdict"])
    return EmailStatus("same-text" if same else "same-verdict", emailed, printed)


def _of_original(email: Delivery | None) -> Name:
    if email is not None and email.sent_at:
        return "emailed"  # whatever the result of a resend
    if on_its_way(email):
        return "sending"
    return "unsent" if email is None or email.state in _UNSENT else "emailed"
