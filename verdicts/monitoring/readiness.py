"""Whether this process can do its work: each condition by name, and in words what it found."""

from collections.abc import Callable
from typing import Final, NamedTuple

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.executor import MigrationExecutor

from audit.log.file import LogFile, locked
from audit.models import LogEntry
from verdicts.jobs.queue import GENERATE, POST, is_stalled

SLACK: Final = 10  # seconds beyond a job's longest, as the workers' own watch has it
UNASKED: Final = "not asked: the database does not answer"


class Check(NamedTuple):
    ok: bool
    says: str


def readiness() -> dict[str, Check]:
    """Every check, in the order in which they build on each other."""
    database = _database()
    found = {"database": database}
    for name, check in CHECKS.items():
        try:
            found[name] = check() if database.ok else Check(False, UNASKED)
        except Error as error:
            found[name] = Check(False, f"the database cannot tell: {type(error).__name__}")
    return found


def _database() -> Check:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:  # its text may name a host or a user
        return Check(False, f"does not answer: {type(error).__name__}")
    return Check(True, "answers")


def _migrations() -> Check:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except InconsistentMigrationHistory:
        return Check(False, "applied in an order that cannot be: see `manage.py showmigrations`")
    if missing:
        return Check(False, f"{len(missing)} not applied: run `manage.py migrate`")
    return Check(True, "all applied")


def _queue(name: str) -> Callable[[], Check]:
    def check() -> Check:
        timeout = settings.Q_CLUSTER["ALT_CLUSTERS"][name]["timeout"] + SLACK
        if is_stalled(name, timeout=timeout):
            return Check(False, f"jobs wait, and none was taken for {timeout} s: are workers up?")
        return Check(True, "moving, or nothing waits")

    return check


def _log() -> Check:
    path = settings.ORACLE_LOG_PATH
    try:
        # As the writer does it; whoever holds the lock now is just writing.
        with locked(path, 0), LogFile(path):
            pass
    except OSError as error:
        return Check(False, f"cannot be opened for writing: {error.strerror}")
    failed = LogEntry.objects.pending(settings.ORACLE_LOG_NAME).filter(failures__gt=0).count()
    if failed:
        return Check(False, f"{failed} lines wait after a write that failed: is the disk full?")
    return Check(True, "can be written")


CHECKS: Final[dict[str, Callable[[], Check]]] = {
    "migrations": _migrations,
    "queue generate": _queue(GENERATE),
    "queue post": _queue(POST),
    "log": _log,
}
