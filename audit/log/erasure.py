"""Erases a session's previews (GDPR): in the rows at once, in each host's files by its sweep.

Hashes do not change, so the chain stays valid (docs/AUDIT_LOG.md). Each row belongs to the file
of one host; its `erased_in_file_at` says whether that host has erased it.
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

SESSIONS_PER_QUERY: Final = 50
MAX_ROWS: Final = 1000  # per pass through the files
LOCK_TIMEOUT: Final = 5.0
MAX_PASSES: Final = 5  # repeated while files are rotated
DRAFT: Final = ".erasing"

_SESSION: Final = re.compile(rb"cs_(?:test|live)_[A-Za-z0-9]+")


def erase_previews(session_ids: Collection[str]) -> int:
    """Blank the previews of these sessions in the database; returns how many rows.

    Call inside a transaction. Nothing else changes a stored entry.
    """
    wanted, erased, now = sorted(session_ids), 0, timezone.now()
    for start in range(0, len(wanted), SESSIONS_PER_QUERY):
        some = set(wanted[start : start + SESSIONS_PER_QUERY])
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
    """Blank in this host's files what is erased in the database; returns how many rows.

    0 if the lock is taken. Raises OSError if a file cannot be read; the rows then stay due.
    """
    path = settings.ORACLE_LOG_PATH
    due = list(LogEntry.objects.to_erase(settings.ORACLE_LOG_NAME)[:MAX_ROWS])
    if not due:
        return 0
    sessions = {str((chain.parse(row.entry) or {}).get("session_id")).encode() for row in due}
    # A writer holds the lock from reading its rows until it has written their lines, so no line
    # with one of these previews can be written after we have acquired it.
    with locked(path, LOCK_TIMEOUT) as held:
        if not held:
            return 0
        beside(path, TORN).unlink(missing_ok=True)  # these lines have been written again
        for leftover in path.parent.glob(f".{glob.escape(path.name)}*{DRAFT}"):
            leftover.unlink(missing_ok=True)  # of a killed process
        unread = _erase_files(path, sessions)
    if unread:
        raise OSError(errno.EIO, "; ".join(unread))
    LogEntry.objects.filter(pk__in=[row.pk for row in due]).update(erased_in_file_at=timezone.now())
    return len(due)


def erase_again(entry_ids: Sequence[str]) -> None:
    """Mark entries whose previews were found in the files again: the next sweep erases them."""
    for start in range(0, len(entry_ids), MAX_ROWS):
        some = entry_ids[start : start + MAX_ROWS]
        LogEntry.objects.filter(public_id__in=some).update(erased_in_file_at=None)


def _erase_files(path: Path, sessions: set[bytes]) -> list[str]:
    """Rewrite every file, new ones from rotation included; returns those that are unreadable."""
    seen: set[int] = set()
    unread: list[str] = []
    for _ in range(MAX_PASSES):
        due = [one for one in [*rotated(path), path] if _inode(one) not in {None, *seen}]
        if not due:
            return unread
        for one in due:
            try:
                seen.add(_erased(one, sessions))
            except FileNotFoundError:
                continue  # renamed by rotation, which does not take our lock: next pass
            except (EOFError, zlib.error, gzip.BadGzipFile):
                unread.append(f"{one.name}: damaged archive, cannot be searched")
            except OSError as error:
                unread.append(f"{one.name}: {error.strerror}")
            else:
                continue
            seen.add(_inode(one) or 0)
    return [*unread, f"{path.name}: rotated {MAX_PASSES} times during the erasure"]


def _erased(path: Path, sessions: set[bytes]) -> int:
    """Erase the previews in one file; returns its inode. FileNotFoundError: it was replaced."""
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
    """Replace the file atomically by one without the previews, with the same times and owner."""
    # The name starts with a dot, so that it is not taken for a rotated file.
    draft = path.with_name(f".{path.name}{DRAFT}")
    try:
        # Readable by its owner only, until it is complete.
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
        shutil.copystat(path, draft)  # the writer finds the last rotated file by its time
        if _inode(path) != before.st_ino:
            raise FileNotFoundError
        inode = draft.stat().st_ino
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return inode


def _is_about(line: bytes, sessions: set[bytes]) -> bool:
    """Whether the line belongs to one of these sessions, or is a torn line that names one."""
    if sessions.isdisjoint(_SESSION.findall(line)):
        return False  # cheaper than parsing
    fields = chain.parse(line)
    # Parsed, because a preview may quote another customer's session.
    return fields is None or str(fields.get("session_id")).encode() in sessions


def _blanked(lines: Iterable[bytes], sessions: set[bytes]) -> Iterable[bytes]:
    for line in lines:
        if not _is_about(line, sessions):
            yield line
            continue
        fields = chain.parse(line) if line.endswith(b"\n") else None
        if fields is None:
            continue  # a torn line: its row was written again
        if chain.PREVIEW not in fields:
            yield line
            continue
        # Dropped if malformed: not written by us, and it may contain the erased text.
        with suppress(ValueError, RecursionError):
            yield chain.erase_preview(line.decode()).encode()
