"""How far a long command has come: one line on a terminal, nothing anywhere else."""

import sys
import time
from typing import Final, Self, TextIO

PATIENCE: Final = 2.0  # what is done by then needs no telling
EVERY: Final = 0.2
WIDTH: Final = 30


class Progress:
    """Call it with a count as often as you like; leave the block, and the line is gone.

    Where it is known how much there is, the share that is done makes a bar.
    """

    def __init__(self, what: str, *, stream: TextIO | None = None) -> None:
        self._what = what
        self._stream = stream or sys.stderr
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __call__(self, count: int, share: float | None = None) -> None:
        now = time.monotonic()
        if now >= self._next and self._stream.isatty():
            self._next, self._shown = now + EVERY, True
            told = f"{count:,} {self._what}"
            self._tell(told if share is None else f"{_bar(min(share, 1.0))} {told}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._tell("")

    def _tell(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()


def _bar(share: float) -> str:
    return f"[{'#' * int(share * WIDTH):<{WIDTH}}] {share:4.0%}"
