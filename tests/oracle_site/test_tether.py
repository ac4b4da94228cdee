"""The tether by itself: what it passes on, reports and ends."""

import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from oracle_site.supervise.launch import TETHER, exit_code, launch, run_to_its_end


@contextmanager
def tethered(code: str):
    tether, line = launch(
        [sys.executable, "-c", code], env={}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with tether, line:  # left in the other order: without its line it ends
        yield tether, line


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ],
)
def test_the_exit_code_is_reported(code, expected):
    with tethered(code) as (tether, line):
        tether.wait(timeout=30)
        assert exit_code(line) == expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_program_and_not_its_children(number):
    """Workers of a queue die of a SIGTERM in the middle of a task: their parent stops them."""
    code = f"""
import os, signal, sys, time
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(1, b"up\\n")
    os.read(reading, 1)
    print("child finished", flush=True)
    os._exit(0)
def stop(*_):
    os.write(writing, b"x")
    os.wait()
    sys.exit(7)
signal.signal({int(number)}, stop)
os.write(1, b"up\\n")
time.sleep(600)
"""
    with tethered(code) as (tether, line):
        assert [tether.stdout.readline() for _ in range(2)] == [b"up\n"] * 2
        tether.send_signal(number)
        assert tether.stdout.read() == b"child finished\n"
        tether.wait(timeout=30)
        assert exit_code(line) == 7


def test_the_end_of_the_line_is_a_sigterm_first():
    code = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("in order", flush=True)))
print("up", flush=True)
time.sleep(600)
"""
    with tethered(code) as (tether, line):
        tether.stdout.readline()
        line.close()
        assert tether.stdout.read() == b"in order\n"
        tether.wait(timeout=30)


def test_a_program_is_born_with_default_signals_and_no_descriptors_of_ours():
    code = """
import os, signal
print([signal.getsignal(n) == signal.SIG_DFL for n in (signal.SIGTERM, signal.SIGHUP)])
print([fd for fd in range(3, 64) if os.path.exists(f"/dev/fd/{fd}")])
"""
    with tethered(code) as (tether, _):
        assert tether.stdout.read() == b"[True, True]\n[]\n"
        tether.wait(timeout=30)


def test_what_a_program_prints_to_its_end_is_handed_back():
    assert run_to_its_end([sys.executable, "-c", "print('hello')"]) == (0, "hello\n")


@pytest.mark.parametrize("arguments", [[], ["x", "--", "true"], ["3", "true", "--"]])
def test_wrong_usage_is_told(arguments):
    run = subprocess.run(
        [sys.executable, TETHER, *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr.startswith("usage:")


def test_started_by_hand_it_harms_nobody_elses_group():
    ours, theirs = socket.socketpair()
    code = f"""
import subprocess, sys
subprocess.run([sys.executable, {str(TETHER)!r}, "{theirs.fileno()}", "--", "true"],
               pass_fds=[{theirs.fileno()}])
print("still here")
"""
    with ours, theirs:
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=False,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    assert run.stdout == b"still here\n"
