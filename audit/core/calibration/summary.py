"""The gate's decisions on a corpus, and how far reviewers agree with them.

Pure: no I/O, no clock, no Django. Keeps only counts, so a corpus can have any size:
the terms of the formula have few values, and so has the score.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from audit.core.crosscheck import Decision
from audit.core.tmm import OMEGA

# Lower bounds of the distribution's buckets; the last bucket is what is approved.
BUCKET_EDGES: Final = (*(twentieth / 20 for twentieth in range(20)), OMEGA)


@dataclass(slots=True)
class Calibration:
    checked: int = 0
    approved: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    # By (should_pass, score); None: not reviewed, or no score.
    scores: Counter[tuple[bool | None, float | None]] = field(default_factory=Counter)
    # By (should_pass, approved); reviewed outputs only.
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
        """The number of scores in each bucket."""
        found = Counter[int]()
        for (_, score), count in self.scores.items():
            found[bucket(score)] += count
        return found


def bucket(score: float | None) -> int:
    """The score's index in BUCKET_EDGES; -1: below zero, or no score."""
    return -1 if score is None else bisect_right(BUCKET_EDGES, score) - 1
