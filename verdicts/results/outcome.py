"""What a reader's request came to; the API and the page say it in their own way."""

from dataclasses import dataclass

from verdicts.core.read_outcomes import READ_OUTCOMES, Name
from verdicts.models import CachedVerdict, Order


@dataclass(frozen=True, slots=True)
class Outcome:
    name: Name
    order: Order | None = None
    entry: CachedVerdict | None = None  # of a verdict
    emailed: str = ""  # the label that stands, where a regeneration came to nothing
    retry_after: int = 0

    @property
    def status(self) -> int:
        return READ_OUTCOMES[self.name].status
