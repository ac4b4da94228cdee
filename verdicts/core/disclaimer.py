"""The disclaimer shown with a regenerated verdict.

Pure: no I/O, no clock, no Django. The emailed verdict is authoritative
(INVARIANT 4), so every response names it, compared or not (R12).

Policy
- Comparison pending: the emailed label, no level.
- No divergence: no disclaimer.
- Minor or significant divergence: a disclaimer that names the emailed label as authoritative.
- No original to compare with: a disclaimer that the result may differ (R11), also while
  the comparison is pending.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from audit.core.vocabulary import UNKNOWN

# Customer-facing text, prescribed by the requirement.
_CONDITION: Final = (
    "Due to a technical condition, the verdict on your results page may differ slightly "
    "from the one you received by email. Both represent a valid coherence reading of your "
    "submission."
)
# Verbatim from the requirement documents, for the email.
NOTE: Final = (
    f"NOTE: {_CONDITION} If you have questions, reply to this email and we will provide "
    "clarification."
)
DIFFERS: Final = f"{_CONDITION} Your emailed verdict, {{emailed}}, is the authoritative one."
MAY_DIFFER: Final = (
    "This result was made again, and the verdict you received by email is not on record here: "
    "the two may differ. The emailed verdict is the authoritative one."
)

Status = Literal["pending", "checked", "skipped"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A regeneration compared with the emailed verdict, as far as is known."""

    emailed: str  # a label, or UNKNOWN
    status: Status = "pending"
    level: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """`divergence` in the API response."""
        return {
            "status": self.status,
            "level": self.level,
            "emailed_verdict": self.emailed,
            "disclaimer": self.disclaimer,
        }

    @property
    def disclaimer(self) -> str | None:
        if self.emailed == UNKNOWN:
            return MAY_DIFFER
        if self.level in ("minor", "significant"):
            return DIFFERS.format(emailed=self.emailed)
        return None
