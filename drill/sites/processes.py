"""Child processes, found with all their descendants by a variable in their environment."""

import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil

from drill.sites.child_env import child_env

ROOT: Final = Path(__file__).resolve().parents[2]
MARK: Final = "ORACLE_TEST_MARK"
TIMEOUT: Final = 120.0  # seconds: enough for a busy machine


class Program:
    """A child process. Its output goes to a file: a pipe that is not read would block it."""

    def __init__(self, argv: list[str], **environment: str) -> None:
        self._mark = uuid.uuid4().hex
        self._output = tempfile.NamedTemporaryFile(prefix="oracle-output-")  # noqa: SIM115 - closed by close()
        self.process = subprocess.Popen(
            argv,
            cwd=ROOT,
            env=child_env(**{MARK: self._mark}, **environment),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    def alive(self) -> list[psutil.Process]:
        """The process and its descendants, in no order."""
        return processes_with(MARK, self._mark)

    @property
    def output(self) -> str:
        return Path(self._output.name).read_text()

    def wait_for_output(self, text: str) -> str:
        """All output, once it contains `text`. Raises AssertionError if the program ends first."""

        def is_printed() -> bool:
            ended = self.process.poll() is not None
            if text in self.output:
                return True
            if ended:
                raise AssertionError(f"{text!r} was never printed, but: {self.output}")
            return False

        wait_for(is_printed)
        return self.output

    def close(self) -> None:
        self._output.close()

    def end(self, signal_number: int) -> tuple[int, str]:
        """The exit code and all output."""
        self.process.send_signal(signal_number)
        self.process.wait(timeout=30)
        return self.process.returncode, self.output


@contextmanager
def running(argv: list[str], **environment: str) -> Iterator[Program]:
    """The program; it and its descendants are killed at the end of the block."""
    program = Program(argv, **environment)
    try:
        yield program
    finally:
        while left := program.alive():  # repeated for processes forked meanwhile
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
        program.process.wait(timeout=30)
        program.close()


def processes_with(variable: str, value: str) -> list[psutil.Process]:
    """All whose environment has it, which descendants inherit."""
    return [one for one in psutil.process_iter() if _has_variable(one, variable, value)]


def _has_variable(process: psutil.Process, variable: str, value: str) -> bool:
    with suppress(psutil.Error):
        return bool(
            process.status() != psutil.STATUS_ZOMBIE and process.environ().get(variable) == value
        )
    return False


def wait_for(condition: Callable[[], bool]) -> None:
    """Raises AssertionError after TIMEOUT."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("the condition was not met in time")
        time.sleep(0.02)
