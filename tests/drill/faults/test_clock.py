"""A clock that is stepped under a running process."""

import subprocess
import sys

import pytest

from drill.faults.clock import Clock, find_library
from drill.sites.child_env import child_env

TELLS = """
import multiprocessing, sys, threading, time
sys.stdout.write(f"{time.time() - time.monotonic()}\\n")
sys.stdout.flush()
sys.stdin.readline()
began = time.monotonic()
time.sleep(2.5)  # the file is read anew once its age is above one whole second
threading.Event().wait(0.1)
multiprocessing.Event().wait(0.1)
print(time.monotonic() - began < 60)
print(time.time() - time.monotonic())
"""


@pytest.fixture
def clock(tmp_path) -> Clock:
    library = find_library()
    if library is None:
        pytest.skip("libfaketime is not installed: drills leave the clock alone")
    return Clock(library, tmp_path)


@pytest.mark.parametrize("seconds", [150, -45])
def test_a_step_is_seen_by_a_running_process_that_goes_on_sleeping(clock, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", TELLS],
        env={**child_env(), **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    before = float(process.stdout.readline())
    clock.step(seconds)
    told, errors = process.communicate("\n", timeout=120)
    slept, after = told.split()
    assert errors == ""
    assert slept == "True"
    assert round(float(after) - before) == seconds


def test_whoever_else_customizes_python_still_does(clock, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('the next one')")
    paths = f"{clock.environment['PYTHONPATH'].split(':')[0]}:{tmp_path}"
    done = subprocess.run(
        [sys.executable, "-c", "pass"],
        env={**child_env(), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "the next one\n"
