"""Processes die at an armed stage, once, and nowhere else; replaced pools are recorded."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from drill.faults.kill_stage_app import POOL, _resolve
from drill.faults.kill_stages import (
    FOLDER,
    REGENERATION,
    STAGES,
    Kill,
    Scope,
    Stage,
    arm,
    disarm_all,
    kills,
    replaced_pools,
)
from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[3]
BY_ID = {stage.id: stage for stage in STAGES}
SWEEP = BY_ID["post: sweep started"]


def run(folder: Path, code: str, *, role: str = "post") -> subprocess.CompletedProcess[str]:
    """A process of the drilled site, which sets up Django and runs the code."""
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


@pytest.mark.parametrize("stage", STAGES, ids=BY_ID)
def test_every_stage_is_at_a_function_of_the_product(stage):
    owner, name = _resolve(stage.function)
    assert hasattr(owner, name)


def test_ids_and_files_of_stages_are_unique():
    assert len({stage.file for stage in STAGES}) == len(STAGES) == len(BY_ID)


def test_the_stages_of_a_regeneration_exist():
    assert set(BY_ID) >= REGENERATION


REACH_SWEEP = (
    "from verdicts import tasks\ntry: tasks.sweep()\nexcept Exception: pass\nprint('alive')"
)


def test_the_first_process_at_an_armed_stage_is_killed_and_the_next_is_not(tmp_path):
    arm(tmp_path, SWEEP, scope=Scope.PROCESS)
    assert run(tmp_path, REACH_SWEEP).returncode == -signal.SIGKILL
    assert kills(tmp_path) == [Kill(SWEEP, Scope.PROCESS)]
    assert run(tmp_path, REACH_SWEEP).stdout == "alive\n"


def test_a_process_of_another_role_is_not_killed(tmp_path):
    arm(tmp_path, SWEEP, scope=Scope.PROCESS)
    assert run(tmp_path, REACH_SWEEP, role="generate").stdout == "alive\n"
    assert disarm_all(tmp_path) == [SWEEP]
    assert disarm_all(tmp_path) == []


def test_a_process_group_is_killed_as_a_whole(tmp_path):
    arm(tmp_path, SWEEP, scope=Scope.GROUP)
    code = f"import subprocess, sys\nsubprocess.Popen(['sleep', '60'])\n{REACH_SWEEP}"
    # Returns at once only if `sleep`, which has the output pipe open, is dead too.
    assert run(tmp_path, code).returncode == -signal.SIGKILL
    assert kills(tmp_path) == [Kill(SWEEP, Scope.GROUP)]


def test_a_kill_half_way_through_a_write_leaves_half_a_line(tmp_path):
    arm(tmp_path, BY_ID["post: half a line written"], scope=Scope.PROCESS)
    code = (
        "from audit.log.file import LogFile; from pathlib import Path\n"
        f"LogFile(Path({str(tmp_path)!r}) / 'lines').append(b'0123456789', sync=True)"
    )
    assert run(tmp_path, code).returncode == -signal.SIGKILL
    assert (tmp_path / "lines").read_bytes() == b"01234"


def test_stages_before_and_after_one_function_are_distinct(tmp_path):
    after = Stage("post", "sweep done", "verdicts.tasks.sweep", "after")
    assert after in STAGES
    run(
        tmp_path,
        "from django.core.management import call_command; call_command('migrate', verbosity=0)",
    )
    arm(tmp_path, after, scope=Scope.PROCESS)
    assert run(tmp_path, REACH_SWEEP).returncode == -signal.SIGKILL
    assert kills(tmp_path) == [Kill(after, Scope.PROCESS)]


KILL_POOL = f"""
from {POOL.rpartition(".")[0]} import Pool
pool = object.__new__(Pool)
class Leader:
    pid = 0
    def is_alive(self): return ALIVE
    def join(self): print("killed")
pool._leader = Leader()
pool.kill()
"""


@pytest.mark.parametrize(("alive", "replaced"), [(True, {"post": 1}), (False, {})])
def test_a_pool_that_is_killed_while_alive_is_recorded_as_replaced(tmp_path, alive, replaced):
    assert run(tmp_path, f"ALIVE = {alive}\n{KILL_POOL}").stdout == "killed\n"
    assert replaced_pools(tmp_path) == replaced


def test_without_a_drill_the_product_is_not_wrapped():
    assert FOLDER not in os.environ
    owner, name = _resolve(SWEEP.function)
    assert not hasattr(getattr(owner, name), "__wrapped__")
