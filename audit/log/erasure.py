"""The previews of a session leave the record: its rows at once, each host's files by its sweep.

No hash changes and the chain stays whole (docs/AUDIT_LOG.md). A row belongs to one
host's file, so one mark on it tells whether that host has followed.
"""

import errno
import glob
import gzip
import os
import re
import shutil
import zlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from audit.core import chain
from audit.log.file import TORN, beside, locked, rotated
from audit.models import LogEntry

AT_ONCE: Final = 50  # sessions in one search
MAX_ROWS: Final = 1000  # rows in one round through the files
LOCK_TIMEOUT: Final = 5.0
ROUNDS: Final = 5  # through files that are rotated meanwhile
DRAFT: Final = ".erasing"

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
    due = list(LogEntry.objects.to_erase(settings.ORACLE_LOG_NAME)[:MAX_ROWS])
    if not due:
        return 0
    sessions = {str((chain.parse(row.entry) or {}).get("session_id")).encode() for row in due}
    # Whoever writes holds the lock from reading its rows to writing their lines: no
    # line with a preview can follow once we have it.
    with locked(path, LOCK_TIMEOUT) as held:
        if not held:
            return 0
        beside(path, TORN).unlink(missing_ok=True)  # written again long since
        for left in path.parent.glob(f".{glob.escape(path.name)}*{DRAFT}"):
            left.unlink(missing_ok=True)  # by one that was killed
        unread = _erase_files(path, sessions)
    if unread:
        raise OSError(errno.EIO, "; ".join(unread))
    LogEntry.objects.filter(pk__in=[row.pk for row in due]).update(erased_in_file_at=timezone.now())
    return len(due)


def erase_again(entry_ids: Sequence[str]) -> None:
    """Let this host's files be gone through once more for these, whose previews are there still."""
    for start in range(0, len(entry_ids), MAX_ROWS):
        some = entry_ids[start : start + MAX_ROWS]
        LogEntry.objects.filter(public_id__in=some).update(erased_in_file_at=None)


def _erase_files(path: Path, sessions: set[bytes]) -> list[str]:
    """Every file, until none is there that was not looked at; returns what could not be read."""
    seen: set[int] = set()
    unread: list[str] = []
    for _ in range(ROUNDS):
        due = [one for one in [*rotated(path), path] if _inode(one) not in {None, *seen}]
        if not due:
            return unread
        for one in due:
            try:
                seen.add(_erased(one, sessions))
            except FileNotFoundError:
                continue  # renamed by a rotation, which takes no lock of ours: look again
            except (EOFError, zlib.error, gzip.BadGzipFile):
                unread.append(f"{one.name}: damaged, so nobody can tell what is in it")
            except OSError as error:
                unread.append(f"{one.name}: {error.strerror}")
            else:
                continue
            seen.add(_inode(one) or 0)
    return [*unread, f"{path.name}: rotated over and over"]


def _erased(path: Path, sessions: set[bytes]) -> int:
    """The inode of a file without these previews. FileNotFoundError: another took its place."""
    before = path.stat()
    if not _mentions(path, sessions):
        if _inode(path) != before.st_ino:
            raise FileNotFoundError
        return before.st_ino
    return _rewrite(path, sessions, before)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _mentions(path: Path, sessions: set[bytes]) -> bool:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return any(_is_about(line, sessions) for line in file)


def _rewrite(path: Path, sessions: set[bytes], before: os.stat_result) -> int:
    """The file with these previews blank, in its place at once, as old as it was."""
    # Not beside the log by name: it must not be taken for a rotated file.
    draft = path.with_name(f".{path.name}{DRAFT}")
    try:
        # Its own and nobody else's to read, until it is whole.
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as raw:
            if path.suffix == ".gz":
                with gzip.open(path) as file, gzip.GzipFile("", "wb", fileobj=raw) as out:
                    out.writelines(_blanked(file, sessions))
            else:
                with path.open("rb") as plain:
                    raw.writelines(_blanked(plain, sessions))
            raw.flush()
            os.fsync(raw.fileno())
        if (before.st_uid, before.st_gid) != (draft.stat().st_uid, draft.stat().st_gid):
            os.chown(draft, before.st_uid, before.st_gid)
        shutil.copystat(path, draft)  # its age tells the writer which file was rotated last
        if _inode(path) != before.st_ino:
            raise FileNotFoundError
        inode = draft.stat().st_ino
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return inode


def _is_about(line: bytes, sessions: set[bytes]) -> bool:
    """Whether the line is one of these sessions', or half a line that names one."""
    if sessions.isdisjoint(_SESSION.findall(line)):
        return False  # a look that is cheaper than parsing
    fields = chain.parse(line)
    # A preview may quote the session of somebody else.
    return fields is None or str(fields.get("session_id")).encode() in sessions


def _blanked(lines: Iterable[bytes], sessions: set[bytes]) -> Iterable[bytes]:
    for line in lines:
        if not _is_about(line, sessions):
            yield line
            continue
        fields = chain.parse(line) if line.endswith(b"\n") else None
        if fields is None:
            continue  # a half line: its row was written again
        if chain.PREVIEW not in fields:
            yield line
            continue
        # What cannot be a line of ours is not kept for the words of one who was erased.
        with suppress(ValueError, RecursionError):
            yield chain.erase_preview(line.decode()).encode()
