"""Fills and frees the file system under the log while the site runs.

With the privilege to mount, a small tmpfs in a mount namespace of this process and its children,
which ends with them however they end. Otherwise /dev/full takes the log's place.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

SIZE: Final = 32 * 1024 * 1024
_CLONE_NEWNS: Final = 0x00020000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_BLOCK: Final = bytes(64 * 1024)


class Disk(Protocol):
    description: str

    def fill(self) -> None: ...
    def free(self) -> None: ...


class SmallDisk:
    description = "a file system of 32 MB"

    def __init__(self, folder: Path) -> None:
        """Raises OSError without the privilege to mount."""
        libc = ctypes.CDLL(None, use_errno=True)
        _check(libc.unshare(_CLONE_NEWNS))
        _check(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))
        options = f"size={SIZE}".encode()
        _check(libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options))
        self._filler = folder / "filler"

    def fill(self) -> None:
        """To the last byte."""
        block = _BLOCK
        with self._filler.open("ab", buffering=0) as filler:
            while block:
                try:
                    filler.write(block)
                except OSError:
                    block = block[: len(block) // 2]

    def free(self) -> None:
        self._filler.unlink(missing_ok=True)


class FullDevice:
    description = "/dev/full in place of the log"

    def __init__(self, log: Path) -> None:
        self._log = log
        # A prefix, so that it does not look like a rotated log.
        self._saved = log.with_name(f"saved-{log.name}")

    def fill(self) -> None:
        """Atomic: a process that opens the log gets either the file or the device."""
        self._log.touch()
        self._saved.hardlink_to(self._log)
        link = self._log.with_name(f"full-{self._log.name}")
        link.symlink_to("/dev/full")
        link.replace(self._log)

    def free(self) -> None:
        with suppress(FileNotFoundError):
            self._saved.replace(self._log)


def disk_under(log: Path) -> Disk:
    try:
        return SmallDisk(log.parent)
    except OSError:
        return FullDevice(log)


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
