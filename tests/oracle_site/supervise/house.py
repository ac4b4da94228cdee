"""A supervisor in a process of its own, and all processes that stem from it."""

import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.child_env import child_env

ROOT = Path(__file__).parents[3]
MARK = "ORACLE_TEST_MARK"
PATIENCE = 180.0  # seconds for what a house is expected to say

# Ignores SIGTERM, as does its fork: four processes with tether and supervisor.
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
time.sleep(600)
"""
# Ends by default on SIGTERM, its fork ignores it.
LEAVES_ORPHAN = """
import os, signal, time
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(600)
"""


class House:
    def __init__(self, argv: list[str], **environment: str) -> None:
        self._mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            argv,
            cwd=ROOT,
            env=child_env(**{MARK: self._mark}, **environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def alive(self) -> list[psutil.Process]:
        """By the environment, which every descendant inherits wherever it moves to."""
        return [one for one in psutil.process_iter() if self._is_ours(one)]

    def alive_among(self, processes: list[psutil.Process]) -> list[psutil.Process]:
        return [one for one in processes if self._is_ours(one)]

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return (
                process.status() != psutil.STATUS_ZOMBIE
                and process.environ().get(MARK) == self._mark
            )
        return False

    def tether(self) -> psutil.Process:
        (tether,) = psutil.Process(self.process.pid).children()
        return tether

    def program(self) -> psutil.Process:
        """The program's main process, once it runs and has forked."""
        wait_for(lambda: len(self.alive()) == 4)
        (program,) = self.tether().children()
        return program

    def read_until(self, text: str) -> list[str]:
        """Fails where it is not said before the house ends, which it must after some minutes."""
        lines = []
        with ended_after(PATIENCE, self.process):
            for line in self.process.stdout:
                lines.append(line.rstrip("\n"))
                if text in line:
                    return lines
        raise AssertionError(f"{text!r} was never said, but {lines}, {self.process.stderr.read()}")

    def end(self, signal_number: int) -> tuple[int, str, str]:
        self.process.send_signal(signal_number)
        stdout, stderr = self.process.communicate(timeout=30)
        return self.process.returncode, stdout, stderr


@contextmanager
def ended_after(seconds: float, process: subprocess.Popen[str]) -> Iterator[None]:
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def running(argv: list[str], **environment: str) -> Iterator[House]:
    house = House(argv, **environment)
    try:
        yield house
    finally:
        while left := house.alive():  # once more, for what was forked meanwhile
            for one in left:
                with suppress(psutil.Error):
                    one.kill()
        house.process.communicate(timeout=30)


def supervising(*programs: str, options: str = "") -> "contextmanager[House]":
    """The programs are written as Python, since they are made in the other process."""
    script = (
        "import sys\nfrom oracle_site.supervise import *\n"
        f"sys.exit(supervise([{','.join(programs)}], {options}))"
    )
    return running([sys.executable, "-c", script])


def program(name: str, code: str, options: str = "") -> str:
    return f"Program({name!r}, {[sys.executable, '-c', code]!r}, {options})"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120  # however busy the machine is
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
