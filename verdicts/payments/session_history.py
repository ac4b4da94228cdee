"""What became of a session that no order here is for: one decision, whoever comes upon it.

A database that was restored has forgotten orders that its log remembers: what was
judged there was emailed, and what was erased there stays so. A log is its host's
own, so where several hosts keep one, what this one does not know may be in another.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Max, Min
from django.utils import timezone

from audit.log import log
from audit.log.reader import Past as Logged
from audit.models import LogEntry
from verdicts.core.errors import PaymentsBusy
from verdicts.core.sessions import CheckoutSession

# A session this young has its webhook on the way: it is a new order, not an old one (R10).
YOUNG: Final = timedelta(hours=1)
LOG_READ_TIMEOUT: Final = 10.0  # seconds, for the log of a house that is very old

Past = Literal[
    "new",  # to be judged and emailed
    "judged",  # the log has its verdict, so it was emailed
    "older",  # than this house: emailed by what was here before (R10)
    "unclear",  # judged by another host, or by nobody
    "erased",
]


@dataclass(frozen=True, slots=True)
class House:
    opened: datetime
    has_other_logs: bool


def house() -> House:
    ours = MigrationRecorder.Migration.objects.filter(app="verdicts")
    opened: datetime | None = ours.aggregate(first=Min("applied"))["first"]
    # By the index's two ends: a list of all hosts would read every line.
    ends = LogEntry.objects.aggregate(first=Min("host"), last=Max("host"))
    hosts = {*ends.values(), settings.ORACLE_LOG_NAME} - {None}
    return House(opened or timezone.now(), has_other_logs=len(hosts) > 1)


def past_of(session: CheckoutSession, logged: Logged | None, at: House) -> Past:
    """`logged`: what this host's log says of it."""
    if logged:
        return logged
    made = datetime.fromtimestamp(session.created or 0, tz=UTC)
    if made >= timezone.now() - YOUNG:
        return "new"
    if made < at.opened:
        return "older"
    return "unclear" if at.has_other_logs else "new"


def logged(session_id: str) -> Logged | None:
    """What this host's log says of it. Reads files: not in a transaction. Raises PaymentsBusy."""
    try:
        return log.pasts([session_id], tick=_until(time.monotonic() + LOG_READ_TIMEOUT)).get(
            session_id
        )
    except TimeoutError:
        raise PaymentsBusy(f"the log could not be read within {LOG_READ_TIMEOUT:g} s") from None


def _until(end: float) -> Callable[[], None]:
    def tick() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    return tick
