"""What the gate makes of a corpus, and how far people agree with it.

Pure: no I/O, no clock, no Django. Only counts are kept, so a corpus may have any
size. It measures the mapping and never changes it.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from audit.core.crosscheck import Decision

BUCKETS: Final = 20  # of the score, from 0 to 1


@dataclass(slots=True)
class Calibration:
    checked: int = 0
    approved: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    scores: Counter[int] = field(default_factory=Counter)  # -1: below zero, or none
    # By (what a person says, what the gate says); only what a person has judged.
    agreement: Counter[tuple[bool, bool]] = field(default_factory=Counter)

    def add(self, decision: Decision, should_pass: bool | None) -> None:
        self.checked += 1
        self.approved += decision.approved
        if not decision.approved:
            self.reasons[decision.crosscheck_reason] += 1
        self.flags.update(decision.flags)
        self.scores[bucket(decision.coherence_score)] += 1
        if should_pass is not None:
            self.agreement[should_pass, decision.approved] += 1

    @property
    def labelled(self) -> int:
        return self.agreement.total()


def bucket(score: float | None) -> int:
    """The score's place in the distribution; a perfect one lies in the last."""
    if score is None or score < 0:
        return -1
    return min(int(score * BUCKETS), BUCKETS - 1)
