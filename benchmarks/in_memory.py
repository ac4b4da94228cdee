"""Files that stay in memory while they are measured, as on a host that has enough of it.

What serves is measured, not the disk. A machine may drop what it has read of a
file whenever it likes, but hardly what somebody has mapped.
"""

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

WORTH_IT: Final = 1_000_000  # bytes: a database has a thousand files that are next to nothing
SHARE: Final = 0.85  # of the machine's memory


class Held:
    """The files of one database; where they are too large, none of them, and `fits` is False."""

    def __init__(self, files: Iterable[Path], beside: int = 0) -> None:
        """`beside` is how many bytes are held already."""
        large = [file for file in files if file.stat().st_size >= WORTH_IT]
        self.size = sum(file.stat().st_size for file in large)
        self.fits = self.size + beside < psutil.virtual_memory().total * SHARE
        self._maps = [_mapped(file) for file in large] if self.fits else []

    def let_go(self) -> None:
        for one in self._maps:
            one.close()


def _mapped(file: Path) -> mmap.mmap:
    with file.open("rb") as opened:
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        return mmap.mmap(opened.fileno(), 0, flags=flags, prot=mmap.PROT_READ)
