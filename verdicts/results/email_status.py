"""How what a page shows relates to what was emailed: one of eight, told in words."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from audit.core.vocabulary import UNKNOWN
from verdicts.core.response_body import fingerprint
from verdicts.models import Delivery, Verdict
from verdicts.results.progress import on_its_way

Name = Literal[
    "sending",  # the original, its email on the way
    "emailed",  # the original, as emailed
    "unsent",  # the original, whose email could not be sent
    "comparing",  # made again, not compared yet
    "same-text",  # made again, and the same to the letter
    "same-verdict",  # made again: the same verdict in other words
    "differs",  # made again, and another verdict
    "unrecorded",  # made again, with nothing on record to compare with
]

_UNSENT: Final = (Delivery.State.FAILED, Delivery.State.UNCERTAIN)


@dataclass(frozen=True, slots=True)
class Standing:
    name: Name
    emailed: str = ""  # the label that stands
    fingerprint: str = ""  # of the emailed text, where it is on record


def standing(answer: dict[str, Any], *, order_id: int, email: Delivery | None) -> Standing:
    """From the answer itself, and from the stored original, whose text is the email's."""
    divergence = answer["divergence"]
    if divergence is None:
        return Standing(_of_original(email))
    emailed = divergence["emailed_verdict"]
    if emailed == UNKNOWN or divergence["status"] == "skipped":
        return Standing("unrecorded")
    original = Verdict.objects.filter(order=order_id, kind="original").first()
    printed = fingerprint(original.payload) if original else ""
    if divergence["status"] == "pending":
        return Standing("comparing", emailed, printed)
    if divergence["level"] != "none":
        return Standing("differs", emailed, printed)
    same = printed == fingerprint(answer["verdict"])
    return Standing("same-text" if same else "same-verdict", emailed, printed)


def _of_original(email: Delivery | None) -> Name:
    if email is not None and email.sent_at:
        return "emailed"  # whatever became of sending it once more
    if on_its_way(email):
        return "sending"
    return "unsent" if email is None or email.state in _UNSENT else "emailed"
