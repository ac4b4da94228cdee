"""A program in a process of its own, and all processes that stem from it."""

import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from drill.sites.child_env import child_env

ROOT = Path(__file__).parents[2]
MARK = "ORACLE_TEST_MARK"
TIMEOUT = 120.0  # seconds, however busy the machine is


class Program:
    """What it prints goes to a file: a pipe that is not read would stop it when it is full."""

    def __init__(self, argv: list[str], **environment: str) -> None:
        self._mark = uuid.uuid4().hex
        self._output = tempfile.NamedTemporaryFile(prefix="oracle-output-")  # noqa: SIM115 - it lives as long as we do
        self.process = subprocess.Popen(
            argv,
            cwd=ROOT,
            env=child_env(**{MARK: self._mark}, **environment),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    def alive(self) -> list[psutil.Process]:
        """By the environment, which every descendant inherits wherever it moves to."""
        return [one for one in psutil.process_iter() if self._is_ours(one)]

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return bool(
                process.status() != psutil.STATUS_ZOMBIE
                and process.environ().get(MARK) == self._mark
            )
        return False

    @property
    def output(self) -> str:
        return Path(self._output.name).read_text()

    def wait_for_output(self, text: str) -> str:
        """All that was printed, once `text` is part of it. Fails if the program ends before."""

        def is_there() -> bool:
            ended = self.process.poll() is not None
            if text in self.output:
                return True
            if ended:
                raise AssertionError(f"{text!r} was never printed, but: {self.output}")
            return False

        wait_for(is_there)
        return self.output

    def close(self) -> None:
        self._output.close()

    def end(self, signal_number: int) -> tuple[int, str]:
        self.process.send_signal(signal_number)
        self.process.wait(timeout=30)
        return self.process.returncode, self.output


@contextmanager
def running(argv: list[str], **environment: str) -> Iterator[Program]:
    program = Program(argv, **environment)
    try:
        yield program
    finally:
        while left := program.alive():  # once more, for what was forked meanwhile
            for one in left:
                with suppress(psutil.Error):
                    one.kill()
        program.process.wait(timeout=30)
        program.close()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("the condition was not met in time")
        time.sleep(0.02)
