"""`manage.py drill` from the command line: all invariants hold, one is violated, not run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from drill.failures import RetriesExhausted
from drill.faults.clock import find_library
from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[4]
pytestmark = [pytest.mark.site, pytest.mark.django_db]

# A site with a defect that the drill must find, and no other fault.
DEFECTIVE = """
import sys
from functools import partial
import django
from django.core.management import execute_from_command_line
django.setup()
from drill import run
run.fault_drill = partial(run.fault_drill, settings="tests.support.repeating")
run.plan_faults = lambda *_, **__: []
execute_from_command_line(sys.argv)
"""


def run(program: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *program, "drill", *arguments],
        cwd=ROOT,
        env=child_env(DJANGO_SETTINGS_MODULE="oracle_site.settings"),
        capture_output=True,
        text=True,
        check=False,
    )


def database() -> str:
    return "postgres" if connection.vendor == "postgresql" else "sqlite"


def count(output: str, row: str) -> int:
    """The number in the last column of the first row that begins so; 0 without one."""
    found = re.search(rf"^{row}.*? +([\d,]+)$", output, re.MULTILINE)
    return int(found[1].replace(",", "")) if found else 0


@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="once is enough, and this one restarts its database"
)
def test_a_short_drill_injects_most_faults_and_all_invariants_hold():
    done = run(["manage.py"], "--orders", "24", "--seed", "41", "--database", database())
    assert (done.returncode, done.stderr.count("VIOLATED")) == (0, 0), done.stderr + done.stdout
    output = done.stdout
    assert output.startswith("Fault drill: 24 orders on PostgreSQL, seed 41\n")
    assert output.endswith("All invariants hold: nothing was lost, duplicated or leaked.\n")
    assert "Ordering: " in done.stderr  # progress
    for fault in ("webhook: ", "gemini: ", "graph: ", "disk full under the log"):
        assert count(output, fault), fault
    for role in ("web", "generate", "post"):
        assert count(output, f"{role} killed"), role
    assert count(output, "model retired") == 1
    assert bool(count(output, "clock stepped")) == (find_library() is not None)
    assert count(output, "database restarted") == 1


@pytest.mark.once
def test_a_site_that_emails_every_verdict_twice_violates_an_invariant():
    done = run(["-c", DEFECTIVE], "--orders", "8", "--seed", "2", "--database", database())
    assert done.returncode == 1, done.stderr
    assert "VIOLATED: A verdict is emailed under one Message-ID: order " in done.stderr
    assert "Repeat it with --seed 2. The site's files are in " in done.stderr
    folder = Path(done.stderr.split("The site's files are in ")[1].strip().rstrip("."))
    assert (folder / "facts.json").exists()
    assert (folder / "site.log").exists()
    shutil.rmtree(folder)


@pytest.mark.once  # `make crowd` runs one on PostgreSQL too
def test_under_load_orders_are_processed_in_order_and_other_readers_are_served():
    load = ["--orders", "24", "--crowd", "6", "--seed", "3", "--database", database()]
    done = run(["manage.py"], *load)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.startswith("Load drill: 24 orders at once")
    assert "All invariants hold: every request was answered" in done.stdout


@pytest.mark.once
@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            RetriesExhausted("[order 00003]: checkout never succeeded"),
            "VIOLATED: [order 00003]: checkout never succeeded. ",
        ),
        (KeyboardInterrupt(), "Interrupted. "),
    ],
)
def test_a_drill_that_ends_early_reports_the_seed_and_the_folder(
    monkeypatch, tmp_path, capsys, end, message
):
    def drill(*_, **__):
        raise end

    monkeypatch.setattr("drill.run.drill", drill)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(CommandError) as raised:
        call_command("drill", seed=1234)
    expected = f"{message}Repeat it with --seed 1234. The site's files are in {tmp_path}"
    assert str(raised.value).startswith(expected)
    assert capsys.readouterr().err == "Seed 1234.\n"


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--orders", "0"], "must be a number from 1 to 5,000, not '0'"),
        (["--orders", "many"], "must be a number from 1 to 5,000, not 'many'"),
        (["--crowd", "nan"], "must be a number from 0.1 to 1,000, not 'nan'"),
        (["--database", "oracle"], "--database must be sqlite, postgres or a postgres:// URL, not"),
        (["--database", "postgres://127.0.0.1:1/a"], "Cannot create a database on that server: "),
    ],
)
def test_a_drill_that_cannot_be_run_exits_with_2_and_says_why(arguments, why):
    done = run(["manage.py"], *arguments)
    assert done.returncode == 2
    assert why in done.stderr
    assert (done.stdout, done.stderr.count("Traceback")) == ("", 0)
