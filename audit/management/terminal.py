"""Tables and progress bars of the management commands, rendered with rich.

Output that is piped or redirected is plain text of a fixed width: no ANSI codes and no
truncated cells. Progress is shown only on a terminal.
"""

import io
import sys
import time
from collections.abc import Collection, Sequence
from typing import Final, Self, TextIO

from rich.box import Box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

SHOW_AFTER: Final = 2.0  # seconds; shorter work needs no progress bar
WIDTH: Final = 10_000  # wider than any row, so that no cell is wrapped or truncated

# A line of dashes below the header and between sections, and no other borders.
_DASHES: Final = Box("    \n    \n -  \n    \n -  \n -  \n    \n    \n", ascii=True)


def render_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    rules_before: Collection[int] = (),
) -> str:
    """The table as text: columns in `right` are right-aligned, `rules_before` are row numbers.

    Cells are printed literally, never interpreted as rich markup. Without a header (all
    titles empty) only the rows are printed.
    """
    table = Table(
        box=_DASHES, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_header=any(header)
    )
    for number, title in enumerate(header):
        table.add_column(Text(title), justify="right" if number in right else "left", no_wrap=True)
    for number, row in enumerate(rows):
        table.add_row(*map(Text, row), end_section=number + 1 in rules_before)
    out = io.StringIO()
    Console(file=out, width=WIDTH, color_system=None, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


class ProgressBar:
    """Call it with a count as often as you like; the bar is removed when the block ends.

    It appears after SHOW_AFTER seconds, only on a terminal, and has a percentage where the
    caller passes the `share` that is done (0 to 1).
    """

    def __init__(self, what: str, *, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._show_at = time.monotonic() + SHOW_AFTER
        self._what = what
        self._progress: Progress | None = None

    def __call__(self, count: int, share: float | None = None) -> None:
        if self._progress is None:
            if time.monotonic() < self._show_at or not self._stream.isatty():
                return
            self._progress = self._start()
        self._progress.update(
            self._progress.task_ids[0],
            description=f"{count:,} {self._what}",
            total=None if share is None else 1.0,
            completed=0 if share is None else min(share, 1.0),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def _start(self) -> Progress:
        progress = Progress(
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(file=self._stream),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        progress.add_task("", total=None)
        progress.start()
        return progress
