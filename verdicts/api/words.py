"""What the API says of each outcome that is no verdict: a title, and a sentence to act on."""

from typing import Final, NamedTuple

from verdicts.core.outcomes import Name


class Words(NamedTuple):
    title: str
    detail: str


SAID: Final[dict[Name, Words]] = {
    "working": Words(
        "Being judged", "The order is paid and on its way. Ask again after Retry-After seconds."
    ),
    "asking": Words(
        "Payment being looked up", "Stripe is being asked. Ask again after Retry-After seconds."
    ),
    "regenerating": Words(
        "Being restored", "The verdict is being restored. Ask again after Retry-After seconds."
    ),
    "malformed": Words(
        "Not a session id",
        "session_id must be the whole id of a Stripe Checkout session, as in the link by email.",
    ),
    "unpaid": Words(
        "Not paid", "Stripe tells of no payment for this session, so nothing was charged."
    ),
    "unknown": Words(
        "Unknown session", "Neither we nor Stripe know of an order of ours by this id."
    ),
    "erased": Words("Erased", "What we had about this order was erased, as its customer asked."),
    "rejected": Words(
        "Held back by our checks",
        "The model's answer did not pass our checks, so it is shown to nobody.",
    ),
    "failed": Words(
        "No verdict", "The model could not be brought to answer. A person looks into it."
    ),
    "too-soon": Words(
        "Too soon",
        "This verdict could not be restored a moment ago. Ask again after Retry-After seconds.",
    ),
    "too-many": Words(
        "Too many unknown sessions",
        "This address asked for too many unknown ids. Ask again after Retry-After seconds.",
    ),
    "try-later": Words(
        "Try later",
        "We cannot answer now; nothing is lost. Ask again after Retry-After seconds.",
    ),
    "model-retired": Words(
        "Cannot be restored now",
        "The model that judged is gone. Operators are told; ask again after Retry-After seconds.",
    ),
}
STANDS: Final = " The verdict that was emailed, {emailed}, stands."


def detail(name: Name, emailed: str) -> str:
    return SAID[name].detail + (STANDS.format(emailed=emailed) if emailed else "")
