"""The history of a session that has no order here: new, judged before, older, unclear or erased.

A database restored from a backup lacks orders that the log still has: what was judged there was
emailed, and what was erased stays erased. Each host has its own log, so with several hosts a
session that this log does not have may be in another one.
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

from audit.log.reader import LoggedState, logged_states
from audit.models import LogEntry
from verdicts.core.errors import PaymentsBusy
from verdicts.core.sessions import CheckoutSession

# The webhook of a session this young may still arrive: it is a new order (R10).
YOUNG: Final = timedelta(hours=1)
LOG_READ_TIMEOUT: Final = 10.0  # seconds, for a log of many years

SessionHistory = Literal[
    "new",  # to be generated and emailed
    "judged",  # the log has its verdict, so it was emailed
    "older",  # than this installation: emailed by its predecessor (R10)
    "unclear",  # judged by another host, or not at all
    "erased",
]


@dataclass(frozen=True, slots=True)
class Installation:
    started_at: datetime
    has_other_logs: bool


def installation() -> Installation:
    ours = MigrationRecorder.Migration.objects.filter(app="verdicts")
    opened: datetime | None = ours.aggregate(first=Min("applied"))["first"]
    # By both ends of the index: a list of all hosts would read every row.
    ends = LogEntry.objects.aggregate(first=Min("host"), last=Max("host"))
    hosts = {*ends.values(), settings.ORACLE_LOG_NAME} - {None}
    return Installation(opened or timezone.now(), has_other_logs=len(hosts) > 1)


def history_of(
    session: CheckoutSession, logged: LoggedState | None, here: Installation
) -> SessionHistory:
    """`logged`: what this host's log has about it."""
    if logged:
        return logged
    made = datetime.fromtimestamp(session.created or 0, tz=UTC)
    if made >= timezone.now() - YOUNG:
        return "new"
    if made < here.started_at:
        return "older"
    return "unclear" if here.has_other_logs else "new"


def logged(session_id: str) -> LoggedState | None:
    """What this host's log has about it. Reads files: not in a transaction. Raises PaymentsBusy."""
    try:
        return logged_states([session_id], tick=_until(time.monotonic() + LOG_READ_TIMEOUT)).get(
            session_id
        )
    except TimeoutError:
        raise PaymentsBusy(f"the log could not be read within {LOG_READ_TIMEOUT:g} s") from None


def _until(end: float) -> Callable[[], None]:
    def tick() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    return tick
