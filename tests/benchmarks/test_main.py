"""`make bench` as a command: its page, its exit codes, what it says of bad usage."""

import subprocess
import sys

import pytest

import benchmarks.__main__ as bench
from benchmarks.report import Limit, Picture, Section
from tests.oracle_site.supervise.house import ROOT


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """One part that found what it is told to have found."""

    def with_figure(figure: float, *arguments: str) -> tuple[int, str, str]:
        limits = [Limit("ours / theirs", figure, most=1.0)]
        pictures = [Picture("bench-x.svg", "A picture", "<svg/>")]
        section = Section("Part", limits=limits, pictures=pictures)
        monkeypatch.setattr(bench, "PARTS", {"part": lambda _houses, _options: section})
        monkeypatch.setattr(bench, "PAGE", tmp_path / "docs" / "BENCHMARKS.md")
        monkeypatch.setattr(sys, "argv", ["bench", *arguments])
        code = bench.main()
        page = tmp_path / "docs" / "BENCHMARKS.md"
        return code, capsys.readouterr().out, page.read_text() if page.exists() else ""

    return with_figure


def test_the_page_tells_machine_versions_and_every_limit(run, tmp_path):
    code, said, page = run(0.5)
    assert code == 0
    assert "1 of 1 limits kept." in page
    assert "| ours / theirs | 0.50 | at most 1.00 | kept |" in page
    assert "| Machine | " in page
    assert "Django 5.2" in page
    assert "![A picture](images/bench-x.svg)" in page
    assert (tmp_path / "docs/images/bench-x.svg").read_text() == "<svg/>"
    assert "Written: " in said


def test_a_limit_that_is_missed_is_named_and_fails_the_run(run):
    code, said, page = run(2.0)
    assert code == 1
    assert "MISSED: ours / theirs: 2.00, at most 1.00" in said
    assert "0 of 1 limits kept." in page


def test_a_part_alone_writes_no_page_unless_told_where(run, tmp_path):
    assert run(0.5, "--only", "part")[2] == ""
    elsewhere = tmp_path / "page.md"
    run(0.5, "--only", "part", "--out", str(elsewhere))
    assert "## Part" in elsewhere.read_text()


def test_what_needs_wrk_is_named_as_left_out_without_it(run, monkeypatch):
    monkeypatch.setattr(bench, "NEEDS_WRK", {"part"})
    monkeypatch.setenv("PATH", "/nowhere")
    code, said, page = run(0.5)
    assert code == 0
    assert "Left out: part, since wrk is not installed." in said
    assert "- part: wrk is not installed" in page


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
