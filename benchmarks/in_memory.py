"""Files that stay in memory for as long as they are held, as on a host that has enough of it.

What serves is measured, not the disk; and a machine may drop what it has read of
a file whenever it likes, but not what somebody has mapped.
"""

import mmap
from collections.abc import Iterable
from pathlib import Path

import psutil


class Held:
    """Of one database. Without enough memory nothing is held, and the disk is measured too."""

    def __init__(self, files: Iterable[Path]) -> None:
        sized = [file for file in files if file.stat().st_size]
        missing = sum(file.stat().st_size for file in sized)
        fits = missing < psutil.virtual_memory().available
        self._maps = [_mapped(file) for file in sized] if fits else []

    def let_go(self) -> None:
        for one in self._maps:
            one.close()


def _mapped(file: Path) -> mmap.mmap:
    with file.open("rb") as opened:
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        return mmap.mmap(opened.fileno(), 0, flags=flags, prot=mmap.PROT_READ)
