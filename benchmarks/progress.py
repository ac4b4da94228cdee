"""One line on the terminal that says what is being done and how far it is; elsewhere nothing."""

import sys
import time
from typing import Final, Self

WIDTH: Final = 24
EVERY: Final = 0.1  # seconds between two looks of the line


class Progress:
    """`with Progress("filling") as progress: progress.share(done, total)`."""

    def __init__(self, what: str) -> None:
        self._what, self._told = what, 0.0
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self.say("")
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def share(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._told < EVERY:
            return
        self._told = now
        filled = WIDTH * done // max(total, 1)
        self.say(f"[{'#' * filled}{'.' * (WIDTH - filled)}] {100 * done // max(total, 1):>3}%")

    def say(self, how_far: str) -> None:
        if self._shown:
            sys.stderr.write(f"\r\x1b[K  {self._what} {how_far}"[:120])
            sys.stderr.flush()
