"""A process whose clock is stepped while it runs."""

import subprocess
import sys

import pytest

from drill.faults.clock import Clock, find_library
from drill.sites.child_env import child_env

PROGRAM = """
import multiprocessing, sys, threading, time
sys.stdout.write(f"{time.time() - time.monotonic()}\\n")
sys.stdout.flush()
sys.stdin.readline()
started = time.monotonic()
time.sleep(2.5)  # libfaketime reads the file again after more than one whole second
threading.Event().wait(0.1)
multiprocessing.Event().wait(0.1)
print(time.monotonic() - started < 60)
print(time.time() - time.monotonic())
"""


@pytest.fixture
def clock(tmp_path) -> Clock:
    library = find_library()
    if library is None:
        pytest.skip("no libfaketime works here: drills do not step the clock")
    return Clock(library, tmp_path)


@pytest.mark.parametrize("seconds", [150, -45])
def test_a_running_process_sees_the_step_and_its_sleeps_still_work(clock, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**child_env(), **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    before = float(process.stdout.readline())
    clock.step(seconds)
    output, errors = process.communicate("\n", timeout=120)
    slept, after = output.split()
    assert errors == ""
    assert slept == "True"
    assert round(float(after) - before) == seconds


def test_another_sitecustomize_is_still_loaded(clock, tmp_path):
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
