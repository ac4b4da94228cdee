"""The progress of a drill: one live line on a terminal, a line every 15 s in a pipe or file."""

import sys
import time
from typing import Final, Self, TextIO

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

PLAIN_INTERVAL: Final = 15.0  # seconds between lines where the output is not a terminal


class ProgressDisplay:
    """A context manager. `show` may be called as often as you like, from any thread."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._next_line = 0.0
        self._progress: Progress | None = None
        if self._stream.isatty():
            self._progress = Progress(
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(file=self._stream),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def show(self, line: str) -> None:
        if self._progress:
            self._progress.update(self._progress.task_ids[0], description=line)
            return
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + PLAIN_INTERVAL
            minutes, seconds = divmod(int(now - self._started), 60)
            self._stream.write(f"{minutes:2}:{seconds:02}  {line}\n")
            self._stream.flush()
