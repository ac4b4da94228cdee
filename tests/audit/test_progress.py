import io

from audit import progress
from audit.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(stream, monkeypatch, timeout=0.0):
    monkeypatch.setattr(progress, "PATIENCE", timeout)
    with Progress("lines", stream=stream) as tick:
        tick(1234)
    return stream.getvalue()


def test_a_terminal_is_told_and_left_clean(monkeypatch):
    assert run(Terminal(), monkeypatch) == "\r\x1b[K1,234 lines\r\x1b[K"


def test_where_the_end_is_known_there_is_a_bar(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Progress("lines", stream=stream) as tick:
        tick(12, 0.5)
    assert f"[{'#' * 15}{' ' * 15}]  50% 12 lines" in stream.getvalue()


def test_what_is_quick_needs_no_telling(monkeypatch):
    assert run(Terminal(), monkeypatch, timeout=60) == ""


def test_a_pipe_is_told_nothing(monkeypatch):
    assert run(io.StringIO(), monkeypatch) == ""
