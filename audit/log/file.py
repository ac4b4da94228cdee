"""oracle_log.jsonl as a file: locking, reading backwards, truncating a torn tail, appending.

Works on bytes and lines; rows and the hash chain are the writer's. Errors are OSErrors. The methods
of LogFile require the lock.
"""

import errno
import fcntl
import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from audit.core.chain import parse

LOCK: Final = ".lock"
TORN: Final = ".torn"

MODE: Final = 0o640  # previews are the customers' own words
_BLOCK: Final = 2 * 1024  # a line or two
_POLL_SECONDS: Final = 0.002


@contextmanager
def locked(path: Path, timeout: float) -> Iterator[bool]:
    """Whether the lock was acquired within `timeout` seconds. A killed holder releases it."""
    # A separate file, because rotation renames the log itself.
    fd = os.open(beside(path, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, MODE)
    try:
        yield _try_lock(fd, time.monotonic() + timeout)
    finally:
        os.close(fd)


@contextmanager
def open_locked(path: Path, timeout: float) -> "Iterator[LogFile | None]":
    """The log file, locked; None if the lock was not free within `timeout` seconds."""
    with locked(path, timeout) as held:
        if not held:
            yield None
            return
        log = LogFile(path)
        try:
            yield log
        finally:
            log.close()


def rotated(path: Path) -> list[Path]:
    """The rotated files, in no order: `.1`, `.2.gz`, `-20260416` and the like."""
    siblings = path.parent.glob(f"{glob.escape(path.name)}[.-]*")
    return [one for one in siblings if not one.name.endswith((LOCK, TORN)) and one.is_file()]


class LogFile:
    """Opened for each batch, because rotation may have replaced the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(path, flags, MODE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._fd)

    def lines_backwards(self) -> Iterator[bytes]:
        return _lines_backwards(self._fd)

    def rotated_lines_backwards(self) -> Iterator[bytes]:
        """The complete lines of the most recently rotated file, last first."""
        plain = [one for one in rotated(self._path) if one.suffix != ".gz"]
        if not plain:
            return
        fd = os.open(max(plain, key=lambda one: one.stat().st_mtime), os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield from (line for line in _lines_backwards(fd) if line.endswith(b"\n"))
        finally:
            os.close(fd)

    def cut_torn_tail(self) -> dict[str, Any] | None:
        """Move a partly written line from the end to `.torn`; returns the last line's fields."""
        end = size = os.fstat(self._fd).st_size
        fields = None
        for line in self.lines_backwards():
            fields = parse(line) if line.endswith(b"\n") else None
            if fields is not None:
                break
            end -= len(line)
        if end < size:
            _append_synced(beside(self._path, TORN), os.pread(self._fd, size - end, end))
            os.ftruncate(self._fd, end)
        return fields

    def append(self, data: bytes, *, sync: bool) -> None:
        """Append all of it in one write, or nothing and raise OSError."""
        size = os.fstat(self._fd).st_size
        written = os.write(self._fd, data)
        if written < len(data):
            # If this fails too, the next writer removes the torn tail.
            os.ftruncate(self._fd, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        if sync:
            self.sync()

    def sync(self) -> None:
        os.fdatasync(self._fd)


def _try_lock(fd: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _POLL_SECONDS))
        else:
            return True


def _lines_backwards(fd: int) -> Iterator[bytes]:
    """Lines with their newlines, last first; an incomplete last line is the first one."""
    end, size, beginning = os.fstat(fd).st_size, _BLOCK, b""
    while end > 0:
        start = max(0, end - size)
        *whole, rest = (os.pread(fd, end - start, start) + beginning).split(b"\n")
        lines = [line + b"\n" for line in whole] + ([rest] if rest else [])
        beginning = lines.pop(0) if start else b""
        yield from reversed(lines)
        end, size = start, size * 2


def _append_synced(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, MODE)
    with os.fdopen(fd, "ab") as file:
        file.write(data if data.endswith(b"\n") else data + b"\n")
        file.flush()
        os.fdatasync(fd)


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
