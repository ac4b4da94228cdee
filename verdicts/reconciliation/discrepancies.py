"""A gap: where two records disagree, or where somebody who has paid waits.

Each says what it is and what mends it. What the house can mend carries `mend`,
which does it once, however many do it at once; the rest is for a person.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeVar, get_args

from django.conf import settings
from django.db.models import Model, QuerySet

from audit.core.redaction import short_hash

APPLY: Final = "manage.py reconcile --apply"
BATCH: Final = 500

M = TypeVar("M", bound=Model)

Kind = Literal[
    "missed webhook",
    "payment not noted",
    "payment awaited",
    "order lost",
    "amount",
    "refund",
    "event",
    "lost job",
    "email not sent",
    "held",
    "no case",
    "no email",
    "no verdict",
    "cache",
    "not compared",
    "log",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
HAVE_A_CASE: Final[tuple[Kind, ...]] = ("held", "email not sent")


class OutOfTime(Exception):
    """The look has taken as long as it may."""


@dataclass(frozen=True, slots=True)
class Repaired:
    how: str  # what was done
    end: Literal["mended", "faster", "case", "failed"] = "mended"

    @property
    def settled(self) -> bool:
        """Whether there is no gap any more, whoever has seen to it."""
        return self.end in ("mended", "faster")


FASTER: Final = Repaired("somebody else was faster", "faster")


@dataclass(frozen=True, slots=True)
class Discrepancy:
    kind: Kind
    what: str
    remedy: str = APPLY
    order_id: int | None = None
    session_id: str = ""
    repair: Callable[[], Repaired] | None = None

    @property
    def session(self) -> str:
        """What may be shown of the session: its id is the key to a verdict."""
        return short_hash(self.session_id) if self.session_id else ""


@dataclass(slots=True)
class Look:
    """One look at the books: since when, for how long, and what has been seen."""

    since: datetime
    seconds: float
    tick: Callable[[int], None]
    counts: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)
    seen: int = 0

    @property
    def unix(self) -> int:
        """Since when, as Stripe counts."""
        return max(0, int(self.since.timestamp()))

    @property
    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.started)

    def saw(self, count: int = 1) -> None:
        """Call it as often as you like. Raises OutOfTime."""
        self.seen += count
        self.tick(self.seen)
        if self.left <= 0:
            raise OutOfTime


def console(model: str, key: int) -> str:
    """Where a person sees it and decides."""
    return f"{settings.SITE_URL}/admin/verdicts/{model}/{key}/change/"


def each(found: QuerySet[M], look: Look) -> Iterator[M]:
    """All of them, by their ids, which are listed first: mending changes what is walked."""
    ids = list(found.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        for one in found.filter(pk__in=ids[start : start + BATCH]).order_by("pk"):
            look.saw()
            yield one
