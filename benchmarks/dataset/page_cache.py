"""Keeps a database's files in the page cache while they are measured.

The benchmarks measure servers, not disks. The kernel may evict pages of files that
were merely read at any time, but rarely pages that a process has mapped.
"""

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

MIN_FILE_BYTES: Final = 1_000_000  # a PostgreSQL database has about a thousand tiny files
MAX_MEMORY_SHARE: Final = 0.85  # of the machine's memory


class CachedFiles:
    """The mapped files of one database; none if they do not fit into memory (`fits` is False)."""

    def __init__(self, files: Iterable[Path], already_mapped: int = 0) -> None:
        """`already_mapped` is the size in bytes of the files mapped for other databases."""
        large = [file for file in files if file.stat().st_size >= MIN_FILE_BYTES]
        self.size = sum(file.stat().st_size for file in large)
        limit = psutil.virtual_memory().total * MAX_MEMORY_SHARE
        self.fits = self.size + already_mapped < limit
        self._maps = [_mapped(file) for file in large] if self.fits else []

    def release(self) -> None:
        for one in self._maps:
            one.close()


def _mapped(file: Path) -> mmap.mmap:
    with file.open("rb") as opened:
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        return mmap.mmap(opened.fileno(), 0, flags=flags, prot=mmap.PROT_READ)
