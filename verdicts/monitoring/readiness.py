"""Readiness: whether this process can do its work, check by check."""

from collections.abc import Callable
from typing import Final, NamedTuple

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory

from audit.log.file import LogFile, locked
from audit.models import LogEntry
from verdicts.jobs.queue import GENERATE, POST, is_stalled
from verdicts.monitoring.unapplied_migrations import unapplied_migrations

QUEUE_MARGIN: Final = 10  # seconds beyond the queue's job time-out, as in the workers' own check
NOT_CHECKED: Final = "not checked: the database does not answer"


class Check(NamedTuple):
    ok: bool
    detail: str


def readiness() -> dict[str, Check]:
    """Every check by name. The other checks need the database, which is checked first."""
    database = _database()
    found = {"database": database}
    for name, check in CHECKS.items():
        try:
            found[name] = check() if database.ok else Check(False, NOT_CHECKED)
        except Error as error:
            found[name] = Check(False, f"database error: {type(error).__name__}")
    return found


def _database() -> Check:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:  # only its type: the text may name a host or a user
        return Check(False, f"does not answer: {type(error).__name__}")
    return Check(True, "answers")


def _migrations() -> Check:
    try:
        unapplied = unapplied_migrations()
    except InconsistentMigrationHistory:
        return Check(False, "inconsistent history: see `manage.py showmigrations`")
    if unapplied:
        return Check(False, f"{unapplied} not applied: run `manage.py migrate`")
    return Check(True, "all applied")


def _queue(name: str) -> Callable[[], Check]:
    def check() -> Check:
        timeout = settings.Q_CLUSTER["ALT_CLUSTERS"][name]["timeout"] + QUEUE_MARGIN
        if is_stalled(name, timeout=timeout):
            return Check(
                False, f"jobs are waiting, none was taken for {timeout} s: check the workers"
            )
        return Check(True, "jobs are taken, or none are waiting")

    return check


def _log() -> Check:
    path = settings.ORACLE_LOG_PATH
    try:
        # Opened as the writer opens it. If the lock is held, another process is writing now.
        with locked(path, 0), LogFile(path):
            pass
    except OSError as error:
        return Check(False, f"cannot be opened for writing: {error.strerror}")
    failed = LogEntry.objects.pending(settings.ORACLE_LOG_NAME).filter(failures__gt=0).count()
    if failed:
        return Check(False, f"{failed} lines not written after a failure: check the disk space")
    return Check(True, "writable")


CHECKS: Final[dict[str, Callable[[], Check]]] = {
    "migrations": _migrations,
    "queue generate": _queue(GENERATE),
    "queue post": _queue(POST),
    "log": _log,
}
