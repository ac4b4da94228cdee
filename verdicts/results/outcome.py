"""The outcome of one read, which the API and the page each render."""

from dataclasses import dataclass

from verdicts.core.read_outcomes import READ_OUTCOMES, Name
from verdicts.models import CachedVerdict, Order


@dataclass(frozen=True, slots=True)
class Outcome:
    name: Name
    order: Order | None = None
    entry: CachedVerdict | None = None  # where the outcome is a verdict
    emailed: str = ""  # the emailed label, where a regeneration failed
    retry_after: int = 0

    @property
    def status(self) -> int:
        return READ_OUTCOMES[self.name].status
