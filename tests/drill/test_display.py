import io
import re

import pytest

from drill import display
from drill.display import ProgressDisplay


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_plain_lines_and_not_more_often_than_the_interval():
    stream = io.StringIO()
    with ProgressDisplay(stream) as progress:
        progress.show("Ordering: 1 of 40")
        progress.show("Ordering: 2 of 40")
    assert stream.getvalue() == " 0:00  Ordering: 1 of 40\n"


def test_a_pipe_gets_a_line_after_each_interval(monkeypatch):
    monkeypatch.setattr(display, "PLAIN_INTERVAL", 0.0)
    stream = io.StringIO()
    with ProgressDisplay(stream) as progress:
        progress.show("one")
        progress.show("two")
    assert stream.getvalue() == " 0:00  one\n 0:00  two\n"


@pytest.mark.parametrize("line", ["Ordering: [order 00001]"])
def test_a_terminal_shows_one_live_line_that_is_removed_at_the_end(line, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with ProgressDisplay(stream) as progress:
        progress.show(line)
        progress._progress.refresh()  # noqa: SLF001 - or wait for its timer
    assert line in re.sub(r"\x1b\[[\d;?]*\w", "", stream.getvalue())
    assert stream.getvalue().endswith("\x1b[2K")
