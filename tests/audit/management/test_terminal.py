import io

import pytest

from audit.management import terminal
from audit.management.terminal import ProgressBar, render_table


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")

    def show(stream, *count, after=0.0):
        monkeypatch.setattr(terminal, "SHOW_AFTER", after)
        with ProgressBar("lines", stream=stream) as tick:
            tick(*count)
        return stream.getvalue()

    return show


def test_a_terminal_shows_the_count_and_then_erases_it(run):
    shown = run(Terminal(), 1234)
    assert "1,234 lines" in shown
    assert shown.endswith("\x1b[2K")  # the line is erased


def test_a_known_share_is_shown_as_a_percentage(run):
    shown = run(Terminal(), 12, 0.5)
    assert "50%" in shown
    assert "12 lines" in shown


def test_short_work_shows_no_progress(run):
    assert run(Terminal(), 1234, after=60) == ""


def test_a_pipe_gets_no_progress(run):
    assert run(io.StringIO(), 1234) == ""


def test_a_table_has_aligned_columns_and_rules():
    rows = [("quick", "1", "a"), ("full", "20,000", ""), ("all", "3", "-")]
    shown = render_table(("Tier", "compared", "note"), rows, right={1}, rules_before={2})
    assert shown.splitlines() == [
        "Tier   compared  note",
        "------ --------- ----",
        "quick         1  a",
        "full     20,000",
        "------ --------- ----",
        "all           3  -",
    ]


def test_cells_are_literal_and_never_truncated():
    long = "[bold]x[/] " + "y" * 5000
    assert render_table(("", ""), [("a", long)]) == f"a  {long}"


def test_a_table_has_no_ansi_codes_even_if_colours_are_forced(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render_table(("a", "b"), [("c", "d")])
