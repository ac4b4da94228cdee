"""A discrepancy: two records that disagree, or a paid order that nothing is processing.

A discrepancy that can be repaired automatically carries `repair`, which is idempotent and safe to
call concurrently. The others are left for staff, with a remedy to follow.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, auto
from typing import Final, Literal, Self, TypeVar, get_args

from django.conf import settings
from django.db.models import Model, QuerySet

from audit.core.redaction import short_hash
from verdicts.models import Order

APPLY_COMMAND: Final = "manage.py reconcile --apply"
BATCH_SIZE: Final = 500

M = TypeVar("M", bound=Model)

# Stored in daily counts and used as metric labels.
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
KINDS_WITH_CASE: Final[tuple[Kind, ...]] = ("held", "email not sent")


class DeadlineExceeded(Exception):
    """The run has used up its time limit."""


class RepairStatus(StrEnum):
    REPAIRED = auto()
    ALREADY_REPAIRED = auto()
    CASE_OPENED = auto()  # staff decide
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class RepairResult:
    detail: str  # displayed only
    status: RepairStatus = RepairStatus.REPAIRED

    @property
    def is_settled(self) -> bool:
        """The discrepancy no longer exists, whichever process repaired it."""
        return self.status in (RepairStatus.REPAIRED, RepairStatus.ALREADY_REPAIRED)


ALREADY_REPAIRED: Final = RepairResult(
    "already repaired by another process", RepairStatus.ALREADY_REPAIRED
)


@dataclass(frozen=True, slots=True)
class Discrepancy:
    kind: Kind
    description: str
    remedy: str = APPLY_COMMAND
    order_id: int | None = None
    session_id: str = ""
    repair: Callable[[], RepairResult] | None = None

    @classmethod
    def of_order(
        cls,
        order: Order,
        kind: Kind,
        description: str,
        remedy: str = APPLY_COMMAND,
        *,
        repair: Callable[[], RepairResult] | None = None,
    ) -> Self:
        return cls(kind, description, remedy, order.pk, order.session_id or "", repair)

    @property
    def session(self) -> str:
        """A hash that may be displayed: the session id itself gives access to the verdict."""
        return short_hash(self.session_id) if self.session_id else ""


@dataclass(slots=True)
class ReconcileRun:
    """One run: the start of its period, its time limit and its progress."""

    since: datetime
    time_limit: float  # seconds
    on_progress: Callable[[int], None]
    counts: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.monotonic)
    checked: int = 0

    @property
    def since_timestamp(self) -> int:
        return max(0, int(self.since.timestamp()))

    @property
    def remaining(self) -> float:
        return self.time_limit - (time.monotonic() - self.started)

    def advance(self, count: int = 1) -> None:
        """Report progress. Cheap enough to call for every row. Raises DeadlineExceeded."""
        self.checked += count
        self.on_progress(self.checked)
        if self.remaining <= 0:
            raise DeadlineExceeded


def console_url(model: str, key: int) -> str:
    return f"{settings.SITE_URL}/admin/verdicts/{model}/{key}/change/"


def iterate(rows: QuerySet[M], run: ReconcileRun) -> Iterator[M]:
    """All rows in batches, by ids that are listed first: repairs change what the query matches."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_SIZE):
        for row in rows.filter(pk__in=ids[start : start + BATCH_SIZE]).order_by("pk"):
            run.advance()
            yield row
