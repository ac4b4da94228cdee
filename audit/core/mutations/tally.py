"""Counts the gate's decisions on each kind of mutation (CROSSCHECK-GAP-01).

Pure: no I/O, no clock, no Django. There are few distinct scores, so counting them
gives an exact median.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from audit.core.crosscheck import Decision


@dataclass(slots=True)
class Tally:
    created: Counter[str] = field(default_factory=Counter)  # by tier
    passed: Counter[str] = field(default_factory=Counter)  # by tier
    flagged: int = 0  # of those that passed
    scores: Counter[float] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)  # of rejections

    def add(self, decision: Decision, tier: str) -> None:
        self.created[tier] += 1
        if decision.approved:
            self.passed[tier] += 1
            self.flagged += bool(decision.flags)
        else:
            self.reasons[decision.crosscheck_reason] += 1
        if decision.coherence_score is not None:
            self.scores[decision.coherence_score] += 1

    @property
    def rejected(self) -> int:
        return self.reasons.total()

    @property
    def lowest(self) -> float | None:
        return min(self.scores, default=None)

    @property
    def median(self) -> float | None:
        """The lower median: always a score that occurred."""
        left = (self.scores.total() + 1) // 2
        for score in sorted(self.scores):
            left -= self.scores[score]
            if left <= 0:
                return score
        return None


def total(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for one in tallies:
        whole.created += one.created
        whole.passed += one.passed
        whole.flagged += one.flagged
        whole.scores += one.scores
        whole.reasons += one.reasons
    return whole
