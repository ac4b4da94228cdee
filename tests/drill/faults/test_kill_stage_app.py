"""Processes die where a stage is armed, once, and nowhere else."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from drill.faults.kill_stage_app import _resolve
from drill.faults.kill_stages import (
    ALONE,
    FOLDER,
    STAGES,
    WITH_GROUP,
    Stage,
    arm,
    disarm_all,
    kills,
)
from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[3]
BY_NAME = {f"{stage.role}: {stage.name}": stage for stage in STAGES}
SWEEP = BY_NAME["post: sweep begun"]


def run(folder: Path, code: str, *, role: str = "post") -> subprocess.CompletedProcess[str]:
    """A process of the drilled site, which sets up Django and runs some code."""
    variables = {
        "DJANGO_SETTINGS_MODULE": "drill.settings",
        "DATABASE_URL": f"sqlite:///{folder}/a.sqlite3",
        "ORACLE_LOG_PATH": str(folder / "oracle_log.jsonl"),
        "Q_CLUSTER_NAME": role,
        FOLDER: str(folder),
    }
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup()\n{code}"],
        cwd=ROOT,
        env=child_env(**variables),
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )


@pytest.mark.parametrize("stage", STAGES, ids=BY_NAME)
def test_every_stage_is_at_a_step_of_the_product(stage):
    owner, name = _resolve(stage.step)
    assert hasattr(owner, name)


def test_the_files_of_all_stages_differ():
    assert len({stage.file for stage in STAGES}) == len(STAGES) == len(BY_NAME)


PASS = "from verdicts import tasks\ntry: tasks.sweep()\nexcept Exception: pass\nprint('alive')"


def test_who_passes_an_armed_stage_is_killed_and_the_next_one_is_not(tmp_path):
    arm(tmp_path, SWEEP, how=ALONE)
    assert run(tmp_path, PASS).returncode == -signal.SIGKILL
    assert kills(tmp_path) == ["post: sweep begun, alone"]
    assert run(tmp_path, PASS).stdout == "alive\n"


def test_a_stage_of_another_role_is_passed(tmp_path):
    arm(tmp_path, SWEEP, how=ALONE)
    assert run(tmp_path, PASS, role="generate").stdout == "alive\n"
    assert disarm_all(tmp_path) == [SWEEP]
    assert disarm_all(tmp_path) == []


def test_a_group_dies_as_a_whole(tmp_path):
    arm(tmp_path, SWEEP, how=WITH_GROUP)
    code = f"import subprocess, sys\nsubprocess.Popen(['sleep', '60'])\n{PASS}"
    assert run(tmp_path, code).returncode == -signal.SIGKILL  # and the pipe is closed: no sleeper


def test_half_a_line_is_left_behind(tmp_path):
    arm(tmp_path, BY_NAME["post: half a line written"], how=ALONE)
    code = (
        "from audit.log.file import LogFile; from pathlib import Path\n"
        f"LogFile(Path({str(tmp_path)!r}) / 'lines').append(b'0123456789', sync=True)"
    )
    assert run(tmp_path, code).returncode == -signal.SIGKILL
    assert (tmp_path / "lines").read_bytes() == b"01234"


def test_stages_before_and_after_one_step_are_told_apart(tmp_path):
    after = Stage("post", "swept", "verdicts.tasks.sweep", "after")
    assert after in STAGES
    run(
        tmp_path,
        "from django.core.management import call_command; call_command('migrate', verbosity=0)",
    )
    arm(tmp_path, after, how=ALONE)
    assert run(tmp_path, PASS).returncode == -signal.SIGKILL
    assert kills(tmp_path) == ["post: swept, alone"]


def test_without_a_drill_the_product_is_not_touched():
    assert FOLDER not in os.environ
    owner, name = _resolve(SWEEP.step)
    assert not hasattr(getattr(owner, name), "__wrapped__")
