"""The `make bench` command: its page, exit codes and usage errors."""

import sqlite3
import subprocess
import sys

import pytest

import benchmarks.__main__ as bench
from benchmarks.report import Limit, Plot, Section
from drill.sites.processes import ROOT


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the command with a part whose measured value is given."""

    def with_value(value: float | None, *arguments: str) -> tuple[int, str, str]:
        limits = [
            Limit("ours / theirs", value, maximum=1.0, skip_reason="theirs is not installed"),
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

    return with_value


def test_the_page_has_machine_versions_and_every_limit(run, tmp_path):
    code, output, page = run(0.5)
    assert code == 0
    assert "2 of 2 limits met." in page
    assert "| ours / theirs | 0.50 | at most 1.00 | met |" in page
    assert "| Machine | " in page
    for version in (f"SQLite {sqlite3.sqlite_version}", "Django 5.2"):
        assert version in page
    assert "![A picture](images/bench-x.svg)" in page
    assert (tmp_path / "docs/images/bench-x.svg").read_text() == "<svg/>"
    assert "Written: " in output


def test_a_missed_limit_is_printed_and_fails_the_run(run):
    code, output, page = run(2.0)
    assert code == 1
    assert "MISSED: ours / theirs: 2.00, at most 1.00" in output
    assert "1 of 2 limits met." in page


def test_a_single_part_writes_a_page_only_with_out(run, tmp_path):
    assert run(0.5, "--only", "part")[2] == ""
    elsewhere = tmp_path / "page.md"
    run(0.5, "--only", "part", "--out", str(elsewhere))
    assert "## Part" in elsewhere.read_text()


def test_an_unmeasured_limit_fails_the_run_and_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(bench, "is_installed", {"redis-server": True, "node": True}.get)
    code, output, page = run(None)
    assert code == 1
    assert "NOT MEASURED: ours / theirs: theirs is not installed" in output
    assert "To measure every limit, install: wrk, nginx." in output
    assert output.endswith("1 of 2 limits met, 1 not measured.\n")
    assert "1 of 2 limits met, 1 not measured." in page
    assert "| ours / theirs | – | at most 1.00 | not measured: theirs is not installed |" in page


def test_missing_programs_are_not_mentioned_if_everything_was_measured(run, monkeypatch):
    monkeypatch.setattr(bench, "is_installed", lambda _program: False)
    assert "install" not in run(0.5)[1]


def test_limits_of_other_parts_do_not_count(run):
    code, output, _ = run(None, "--only", "other")
    assert code == 0
    assert "not measured" not in output


@pytest.mark.parametrize(
    "arguments", [["--only", "nothing"], ["--sizes", "100"], ["--sizes", "200,100"]]
)
def test_usage_errors_are_reported_before_anything_runs(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "usage: make bench" in done.stderr
