"""What the gate makes of a corpus, and how far people agree with it.

Pure: no I/O, no clock, no Django. Only counts are kept, so a corpus may have any
size: the terms of the formula take few values, and so does the score. It
measures the mapping and never changes it.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from audit.core.crosscheck import Decision
from audit.core.tmm import OMEGA

# Where the places of the distribution begin; the last is what is approved.
BUCKET_EDGES: Final = (*(twentieth / 20 for twentieth in range(20)), OMEGA)


@dataclass(slots=True)
class Calibration:
    checked: int = 0
    approved: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    # By (what a person says, the score); None: nobody has said, there is no score.
    scores: Counter[tuple[bool | None, float | None]] = field(default_factory=Counter)
    # By (what a person says, what the gate says); only what a person has judged.
    agreement: Counter[tuple[bool, bool]] = field(default_factory=Counter)

    def add(self, decision: Decision, should_pass: bool | None) -> None:
        self.checked += 1
        self.approved += decision.approved
        if not decision.approved:
            self.reasons[decision.crosscheck_reason] += 1
        self.flags.update(decision.flags)
        self.scores[should_pass, decision.coherence_score] += 1
        if should_pass is not None:
            self.agreement[should_pass, decision.approved] += 1

    @property
    def reviewed(self) -> int:
        return self.agreement.total()

    @property
    def distribution(self) -> Counter[int]:
        """How many lie at each place; -1: below zero, or none."""
        found = Counter[int]()
        for (_, score), count in self.scores.items():
            found[bucket(score)] += count
        return found


def bucket(score: float | None) -> int:
    """The score's place in BUCKET_EDGES."""
    return -1 if score is None else bisect_right(BUCKET_EDGES, score) - 1
