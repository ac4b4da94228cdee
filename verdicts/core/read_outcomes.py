"""Every outcome of reading a result: its HTTP status, and the API's title and detail.

Pure: no I/O, no clock, no Django. The API and the page share these names: the page has one
template for each (`templates/result/`), and an error's name is its problem `type`, which is part
of the API contract.
"""

from typing import Final, Literal, NamedTuple

RETRY_SOON: Final = 2  # seconds: work is in progress
RETRY_LATER: Final = 10  # seconds: a dependency is down

Name = Literal[
    "verdict",
    "working",
    "asking",
    "regenerating",
    "malformed",
    "unpaid",
    "unknown",
    "erased",
    "rejected",
    "failed",
    "too-soon",
    "too-many",
    "try-later",
    "model-retired",
]


class ReadOutcome(NamedTuple):
    status: int
    title: str = ""
    detail: str = ""  # what happened, and what to do


READ_OUTCOMES: Final[dict[Name, ReadOutcome]] = {
    "verdict": ReadOutcome(200),
    "working": ReadOutcome(
        202,  # paid and being generated, or held for staff
        "Being judged",
        "The order is paid and on its way. Ask again after Retry-After seconds.",
    ),
    "asking": ReadOutcome(
        202,  # the payment is being looked up at Stripe
        "Payment being looked up",
        "Stripe is being asked. Ask again after Retry-After seconds.",
    ),
    "regenerating": ReadOutcome(
        202,  # in progress, or no free slot (R6)
        "Being restored",
        "The verdict is being restored. Ask again after Retry-After seconds.",
    ),
    "malformed": ReadOutcome(
        400,
        "Not a session id",
        "session_id must be the whole id of a Stripe Checkout session, as in the link by email.",
    ),
    "unpaid": ReadOutcome(
        402,
        "Not paid",
        "Stripe tells of no payment for this session, so nothing was charged.",
    ),
    "unknown": ReadOutcome(
        404,
        "Unknown session",
        "Neither we nor Stripe know of an order of ours by this id.",
    ),
    "erased": ReadOutcome(
        410,
        "Erased",
        "What we had about this order was erased, as its customer asked.",
    ),
    "rejected": ReadOutcome(
        422,  # by the gate, the original (R7) or the regeneration (R8)
        "Held back by our checks",
        "The model's answer did not pass our checks, so it is shown to nobody.",
    ),
    "failed": ReadOutcome(
        422,
        "No verdict",
        "The model could not be brought to answer. A person looks into it.",
    ),
    "too-soon": ReadOutcome(
        429,  # one regeneration in five minutes (R5)
        "Too soon",
        "This verdict could not be restored a moment ago. Ask again after Retry-After seconds.",
    ),
    "too-many": ReadOutcome(
        429,  # unknown sessions from one address (R10)
        "Too many unknown sessions",
        "This address asked for too many unknown ids. Ask again after Retry-After seconds.",
    ),
    "try-later": ReadOutcome(
        503,
        "Try later",
        "We cannot answer now; nothing is lost. Ask again after Retry-After seconds.",
    ),
    "model-retired": ReadOutcome(
        503,  # R16
        "Cannot be restored now",
        "The model that judged is gone. Operators are told; ask again after Retry-After seconds.",
    ),
}
EMAILED_STANDS: Final = " The verdict that was emailed, {emailed}, stands."


def detail(name: Name, emailed: str) -> str:
    """The outcome's detail, and the label of the emailed verdict if there is one."""
    stands = EMAILED_STANDS.format(emailed=emailed) if emailed else ""
    return READ_OUTCOMES[name].detail + stands
