"""A progress bar on stderr, drawn with rich; nothing is written when stderr is not a terminal."""

import sys
import time
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

REFRESH_INTERVAL: Final = 0.1  # seconds


class ProgressBar:
    """`with ProgressBar("filling") as bar: bar.update(done, total)`.

    Drawn only inside `update` and `describe`: rich's own refresh thread would disturb
    measurements in this process.
    """

    def __init__(self, description: str) -> None:
        self._refreshed_at = 0.0
        self._progress = Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task(description, total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        self._progress.refresh()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done >= total or now - self._refreshed_at >= REFRESH_INTERVAL:
            self._refreshed_at = now
            self._progress.update(self._task, completed=done, total=total, refresh=True)

    def describe(self, description: str) -> None:
        """Start a step of unknown length."""
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=None)
        self._progress.refresh()
