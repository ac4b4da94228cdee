"""The previews of a session leave the record: its rows at once, each host's files by its sweep.

No hash changes and the chain stays whole (docs/RECORD.md). A row belongs to one
host's file, so one mark on it tells whether that host has followed.
"""

import errno
import gzip
import os
import re
import shutil
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from audit.core import chain
from audit.log_file import TORN, beside, locked, rotated
from audit.models import LogEntry

AT_ONCE: Final = 50  # sessions in one search
MOST: Final = 1000  # rows in one round through the files
PATIENCE: Final = 5.0

_SESSION: Final = re.compile(rb"cs_(?:test|live)_[A-Za-z0-9]+")


def erase_previews(session_ids: Collection[str]) -> int:
    """Blank the previews of these sessions in the database; returns how many rows.

    The one place that changes an entry. In the caller's transaction.
    """
    wanted, erased, now = sorted(session_ids), 0, timezone.now()
    for start in range(0, len(wanted), AT_ONCE):
        some = set(wanted[start : start + AT_ONCE])
        mentioned = Q()
        for one in some:
            mentioned |= Q(entry__contains=f'"session_id":"{one}"')
        rows = LogEntry.objects.filter(mentioned, erased_at=None).exclude(commitment="")
        for row in rows.iterator():
            if (chain.parse(row.entry) or {}).get("session_id") in some:
                erased += LogEntry.objects.filter(pk=row.pk).update(
                    entry=chain.erase_preview(row.entry).rstrip(), salt="", erased_at=now
                )
    return erased


def apply_erasures() -> int:
    """Blank in this host's files what is erased in the database; returns how many rows that was.

    Raises OSError; then it is still to be done. Nothing, where the lock is not to be had.
    """
    path = settings.ORACLE_LOG_PATH
    due = list(LogEntry.objects.to_erase(settings.ORACLE_LOG_NAME)[:MOST])
    if not due:
        return 0
    sessions = {str((chain.parse(row.entry) or {}).get("session_id")).encode() for row in due}
    # Whoever writes holds the lock from reading its rows to writing their lines: no
    # line with a preview can follow once we have it.
    with locked(path, PATIENCE) as held:
        if not held:
            return 0
        beside(path, TORN).unlink(missing_ok=True)  # written again long since
        unread = [one.name for one in [*rotated(path), path] if not _erased(one, sessions)]
    if unread:
        raise OSError(errno.EIO, "damaged, so nobody can tell what is in it", ", ".join(unread))
    LogEntry.objects.filter(pk__in=[row.pk for row in due]).update(erased_in_file_at=timezone.now())
    return len(due)


def _erased(path: Path, sessions: set[bytes]) -> bool:
    """False: an archive that cannot be read to its end."""
    try:
        if path.exists() and _mentions(path, sessions):
            _rewrite(path, sessions)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    return True


def _mentions(path: Path, sessions: set[bytes]) -> bool:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return any(not sessions.isdisjoint(_SESSION.findall(line)) for line in file)


def _rewrite(path: Path, sessions: set[bytes]) -> None:
    """The file with these previews blank, in its place at once, as old as it was."""
    # Not beside the log by name: it must not be taken for a rotated file.
    draft = path.with_name(f".{path.name}.erasing")
    before = path.stat()
    try:
        with draft.open("wb") as raw:
            if path.suffix == ".gz":
                with gzip.open(path) as file, gzip.GzipFile("", "wb", fileobj=raw) as out:
                    out.writelines(_blanked(file, sessions))
            else:
                with path.open("rb") as plain:
                    raw.writelines(_blanked(plain, sessions))
            raw.flush()
            os.fsync(raw.fileno())
        shutil.copystat(path, draft)  # its age tells the writer which file was rotated last
        if (before.st_uid, before.st_gid) != (draft.stat().st_uid, draft.stat().st_gid):
            os.chown(draft, before.st_uid, before.st_gid)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _blanked(lines: Iterable[bytes], sessions: set[bytes]) -> Iterable[bytes]:
    for line in lines:
        if sessions.isdisjoint(_SESSION.findall(line)):
            yield line
            continue
        fields = chain.parse(line) if line.endswith(b"\n") else None
        if fields is None:
            continue  # a half line: its row was written again
        yield chain.erase_preview(line.decode()).encode() if chain.PREVIEW in fields else line
