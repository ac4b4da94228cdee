"""What a reader's request came to; the API and the page say it in their own way."""

from dataclasses import dataclass
from typing import Final

from verdicts.core.outcomes import STATUS, Name
from verdicts.models import CachedVerdict, Order

SOON: Final = 2  # seconds until it is worth looking again
LATER: Final = 10  # where something is down


@dataclass(frozen=True, slots=True)
class Outcome:
    name: Name
    order: Order | None = None
    entry: CachedVerdict | None = None  # of a verdict
    emailed: str = ""  # the label that stands, where a regeneration came to nothing
    retry_after: int = 0

    @property
    def status(self) -> int:
        return STATUS[self.name]
