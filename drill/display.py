"""How far a drill has come: one line on a terminal, now and then a line anywhere else."""

import sys
import time
from typing import Final, TextIO

EVERY: Final = 0.2  # seconds, on a terminal
NOW_AND_THEN: Final = 15.0  # and anywhere else


class Display:
    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._began = time.monotonic()
        self._next = 0.0

    def show(self, line: str) -> None:
        """What goes on now; called as often as there is news."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + (EVERY if self._is_terminal else NOW_AND_THEN)
            self._write(line)

    def say(self, line: str) -> None:
        """Something that stays."""
        self._write(line)
        if self._is_terminal:
            self._stream.write("\n")
        self._next = 0.0

    def clear(self) -> None:
        if self._is_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _write(self, line: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        told = f"{minutes:2}:{seconds:02}  {line}"
        self._stream.write(f"\r\x1b[K{told}" if self._is_terminal else f"{told}\n")
        self._stream.flush()
