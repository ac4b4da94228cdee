"""What can become of a reader's request, and the status that says so. DESIGN's tables.

Pure: no I/O, no clock, no Django. The API and the page share these names: for a
refusal the name is the problem's `type`, which is contract.
"""

from typing import Final, Literal

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

STATUS: Final[dict[Name, int]] = {
    "verdict": 200,
    "working": 202,  # paid, and on its way; or held for staff
    "asking": 202,  # Stripe is being asked about the payment
    "regenerating": 202,  # somebody is at it, or everybody is busy (R6)
    "malformed": 400,
    "unpaid": 402,
    "unknown": 404,
    "erased": 410,
    "rejected": 422,  # by the gate, the original (R7) or the regeneration (R8)
    "failed": 422,
    "too-soon": 429,  # one regeneration in five minutes (R5)
    "too-many": 429,  # unknown sessions from one address (R10)
    "try-later": 503,
    "model-retired": 503,  # R16
}
