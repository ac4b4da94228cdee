"""What a person sees: our own lines bare, a program's with its name in front.

One thread writes, so that lines stay whole, and so that a terminal that takes
nothing more delays the programs (as it would without us) but never a stop.
"""

import os
import queue
import threading
from contextlib import suppress

STDOUT, STDERR = 1, 2
LONGEST_LINE = 65_536


class Console:
    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: queue.Queue[tuple[int, bytes] | None] = queue.Queue(1000)
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def say(self, text: str) -> None:
        """A line of ours; never waits."""
        with suppress(queue.Full):
            self._lines.put_nowait((STDOUT, f"{text}\n".encode()))

    def follow(self, name: str, to: int) -> tuple[int, threading.Thread]:
        """A descriptor for a program to write to, and the thread that reads it to its end."""
        reading, writing = os.pipe()
        thread = threading.Thread(target=self._read, args=(name, reading, to), daemon=True)
        thread.start()
        return writing, thread

    def close(self) -> None:
        """Write what is left, if somebody takes it."""
        with suppress(queue.Full):
            self._lines.put(None, timeout=1)
            self._writer.join(timeout=1)

    def _read(self, name: str, reading: int, to: int) -> None:
        prefix = f"{name:<{self._width}} | ".encode()
        with open(reading, "rb") as source:
            while line := source.readline(LONGEST_LINE):
                self._lines.put((to, prefix + line.rstrip(b"\r\n") + b"\n"))

    def _write(self) -> None:
        while item := self._lines.get():
            to, rest = item
            # Straight to the descriptor: a buffer's lock would outlive a blocked write.
            with suppress(OSError):  # the terminal is gone; the programs go on
                while rest:
                    rest = rest[os.write(to, rest) :]
