"""`manage.py drill` as somebody would call it: kept, violated, and not run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from drill.failures import GaveUp
from drill.faults.clock import find_library
from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[4]
pytestmark = [pytest.mark.site, pytest.mark.django_db]

# With a site that is broken in a way that the drill must find, and no other fault.
BROKEN = """
import sys
from functools import partial
from drill import run
from django.core.management import execute_from_command_line
run.storm = partial(run.storm, settings="tests.support.repeating")
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


def here() -> str:
    return "postgres" if connection.vendor == "postgresql" else "sqlite"


def counted(said: str, what: str) -> int:
    """What the table says of it, in its last column of numbers."""
    found = re.search(rf"^  {what}.*?  +([\d,]+)$", said, re.MULTILINE)
    return int(found[1].replace(",", "")) if found else 0


@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="once is enough, and this one restarts its database"
)
def test_a_short_drill_breaks_much_and_finds_every_invariant_kept():
    done = run(["manage.py"], "--orders", "24", "--seed", "41", "--database", here())
    assert (done.returncode, done.stderr.count("VIOLATED")) == (0, 0), done.stderr + done.stdout
    said = done.stdout
    assert said.startswith("Drill: 24 orders on PostgreSQL, seed 41\n")
    assert said.endswith("Kept: nothing lost, nothing doubled, nothing leaked.\n")
    assert "Ordering: " in done.stderr  # how far it has come
    for what in ("webhook: ", "gemini: ", "graph: ", "disk full under the log"):
        assert counted(said, what), what
    for role in ("web", "generate", "post"):
        assert counted(said, f"{role} killed -9"), role
    assert counted(said, "model retired") == 1
    assert bool(counted(said, "clock stepped")) == (find_library() is not None)
    assert counted(said, "database restarted") == 1


@pytest.mark.once
def test_a_site_that_repeats_itself_is_found_out():
    done = run(["-c", BROKEN], "--orders", "8", "--seed", "2", "--database", here())
    assert done.returncode == 1, done.stderr
    assert "VIOLATED. A verdict is emailed under one Message-ID: order " in done.stderr
    assert "Seed 2 repeats it. What the site left behind is in " in done.stderr
    folder = Path(done.stderr.split("left behind is in ")[1].strip().rstrip("."))
    assert (folder / "facts.json").exists()
    assert (folder / "site.log").exists()
    shutil.rmtree(folder)


@pytest.mark.once  # `make crowd` sends one to PostgreSQL, too
def test_a_crowd_is_served_in_its_order_and_nobody_else_notices():
    crowd = ["--orders", "24", "--crowd", "6", "--seed", "3", "--database", here()]
    done = run(["manage.py"], *crowd)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Kept: everybody was answered, and served in the order of payment." in done.stdout


@pytest.mark.once
@pytest.mark.parametrize(
    ("end", "told"),
    [
        (GaveUp("[order 00003] cannot order"), "VIOLATED: [order 00003] cannot order. "),
        (KeyboardInterrupt(), "Stopped. "),
    ],
)
def test_whoever_is_not_told_the_end_is_told_the_seed(monkeypatch, tmp_path, capsys, end, told):
    def drill(*_, **__):
        raise end

    monkeypatch.setattr("drill.run.drill", drill)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(CommandError) as raised:
        call_command("drill", seed=1234)
    assert str(raised.value).startswith(f"{told}Seed 1234 repeats it. What the site left behind")
    assert capsys.readouterr().err == "Seed 1234.\n"


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--orders", "0"], "a number from 1 to 5,000, not '0'"),
        (["--orders", "many"], "a number from 1 to 5,000, not 'many'"),
        (["--crowd", "nan"], "a number from 0.1 to 1,000, not 'nan'"),
        (["--database", "oracle"], "--database takes sqlite, postgres or postgres://..., not"),
        (["--database", "postgres://127.0.0.1:1/a"], "No database can be made on that server: "),
    ],
)
def test_what_cannot_be_run_is_told_and_no_verdict_on_the_site(arguments, why):
    done = run(["manage.py"], *arguments)
    assert done.returncode == 2
    assert why in done.stderr
    assert (done.stdout, done.stderr.count("Traceback")) == ("", 0)
