"""What a reader is told of a regenerated verdict, beside the verdict itself.

Pure: no I/O, no clock, no Django. The emailed verdict is authoritative
(INVARIANT 4), so it is named from the first answer on, compared or not (R12).

Policy
- Not compared yet: the emailed label, no level.
- Compared and the same: no disclaimer.
- Minor and significant: the disclaimer, with the emailed label as the one that stands.
- No original to compare with: the disclaimer that it may differ (R11), also
  while the comparison is pending.
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
# The document's text, word for word: the notice by email.
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
    """How a regeneration stands to the emailed verdict, as far as is known."""

    emailed: str  # a label, or UNKNOWN
    status: Status = "pending"
    level: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The answer's `divergence`."""
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
