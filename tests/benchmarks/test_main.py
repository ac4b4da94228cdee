"""`make bench` as a command: its page, its exit codes, what it says of bad usage."""

import sqlite3
import subprocess
import sys

import pytest

import benchmarks.__main__ as bench
from benchmarks.report import Limit, Plot, Section
from drill.sites.processes import ROOT


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """One part that found what it is told to have found."""

    def with_figure(figure: float | None, *arguments: str) -> tuple[int, str, str]:
        limits = [
            Limit("ours / theirs", figure, maximum=1.0, why_not="theirs is not installed"),
            Limit("ours / before", 1.0, maximum=1.0),
        ]
        plots = [Plot("bench-x.svg", "A picture", "<svg/>")]
        section = Section("Part", limits=limits, plots=plots)
        parts = {"part": [lambda *_: section], "other": [lambda *_: Section("Other")]}
        monkeypatch.setattr(bench, "PARTS", parts)
        monkeypatch.setattr(bench, "PAGE", tmp_path / "docs" / "BENCHMARKS.md")
        monkeypatch.setattr(sys, "argv", ["bench", *arguments])
        code = bench.main()
        page = tmp_path / "docs" / "BENCHMARKS.md"
        return code, capsys.readouterr().out, page.read_text() if page.exists() else ""

    return with_figure


def test_the_page_tells_machine_versions_and_every_limit(run, tmp_path):
    code, said, page = run(0.5)
    assert code == 0
    assert "2 of 2 limits kept." in page
    assert "| ours / theirs | 0.50 | at most 1.00 | kept |" in page
    assert "| Machine | " in page
    for version in (f"SQLite {sqlite3.sqlite_version}", "Django 5.2"):
        assert version in page
    assert "![A picture](images/bench-x.svg)" in page
    assert (tmp_path / "docs/images/bench-x.svg").read_text() == "<svg/>"
    assert "Written: " in said


def test_a_limit_that_is_missed_is_named_and_fails_the_run(run):
    code, said, page = run(2.0)
    assert code == 1
    assert "MISSED: ours / theirs: 2.00, at most 1.00" in said
    assert "1 of 2 limits kept." in page


def test_a_part_alone_writes_no_page_unless_told_where(run, tmp_path):
    assert run(0.5, "--only", "part")[2] == ""
    elsewhere = tmp_path / "page.md"
    run(0.5, "--only", "part", "--out", str(elsewhere))
    assert "## Part" in elsewhere.read_text()


def test_what_was_not_measured_fails_the_run_and_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(bench, "is_installed", {"redis-server": True, "node": True}.get)
    code, said, page = run(None)
    assert code == 1
    assert "NOT MEASURED: ours / theirs: theirs is not installed" in said
    assert "To have everything measured, install: wrk, nginx." in said
    assert said.endswith("1 of 2 limits kept, 1 not measured.\n")
    assert "1 of 2 limits kept, 1 not measured." in page
    assert "| ours / theirs | – | at most 1.00 | not measured: theirs is not installed |" in page


def test_nobody_is_asked_to_install_what_nothing_needed(run, monkeypatch):
    monkeypatch.setattr(bench, "is_installed", lambda _program: False)
    assert "install" not in run(0.5)[1]


def test_a_part_that_was_not_asked_for_does_not_count(run):
    code, said, _ = run(None, "--only", "other")
    assert code == 0
    assert "not measured" not in said


@pytest.mark.parametrize(
    "arguments", [["--only", "nothing"], ["--sizes", "100"], ["--sizes", "200,100"]]
)
def test_bad_usage_is_told_before_anything_runs(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "usage: make bench" in done.stderr
