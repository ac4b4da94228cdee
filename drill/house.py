"""The site as `make serve` runs it: started, restarted with other settings, its parts found."""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import psutil
from oracle_site.supervise.launch import launch
from oracle_site.supervise.program import answers

from drill.failures import NotStarted
from sandbox.client import SandboxClient

ROOT: Final = Path(__file__).parents[1]
MARK: Final = "ORACLE_DRILL_MARK"
HOST: Final = "127.0.0.1"
# The caller's own settings must not decide what is drilled.
KEPT: Final = ("PATH", "PYTHONPATH", "HOME", "LANG", "LC_", "TMPDIR")
SLOW_START: Final = 90.0
SERVE: Final = "oracle_site.serve"


class House:
    def __init__(
        self, port: int, *, folder: Path, said: Path, environment: Mapping[str, str]
    ) -> None:
        self.url = f"http://{HOST}:{port}"
        self._control, self._env_file = folder / "serve.sock", folder / "site.env"
        self._said = said
        self._mark = uuid.uuid4().hex
        self._environment = {**environment, "ORACLE_PORT": str(port), MARK: self._mark}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Up and answering."""
        self._env_file.write_text("")
        self._process = self._run("drill.site", str(self._control), str(self._env_file))
        wait_until(self.is_up, SLOW_START, NotStarted(f"the site does not start: see {self._said}"))

    @contextmanager
    def running(self) -> Iterator[None]:
        """For as long as the block runs, whatever becomes of it meanwhile."""
        try:
            self.start()
            yield
        finally:
            self.stop()

    def is_up(self) -> bool:
        if self._process and self._process.poll() is not None:
            raise NotStarted(f"the site ended by itself: see {self._said}")
        return answers(f"{self.url}/healthz")

    def restart(self, **settings: str) -> None:
        """As operators do it: other settings in the file, `make restart`, once more if refused."""
        lines = [f"{name}={value}\n" for name, value in settings.items()]
        self._env_file.write_text("".join(lines))
        refused = NotStarted(f"the site is not restarted: see {self._said}")
        wait_until(self._is_restarted, SLOW_START, refused)

    def _is_restarted(self) -> bool:
        return self._run(SERVE, "--control", str(self._control), "--restart").wait() == 0

    def _run(self, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
        with self._said.open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=clean_environment(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        for one in self._alive():  # the supervisor's end is theirs, unless it was lost
            with suppress(psutil.Error):
                one.kill()
        self._process.wait()
        self._process = None

    def pool(self, cluster: str) -> list[psutil.Process]:
        """The processes of a queue's pool, oldest first: guard, workers, monitor, pusher."""
        members = [one for one in self._alive() if _cluster(one) == cluster]
        mains = [one for one in members if _is_main(one)]
        return [one for main in mains for one in _oldest_first(main.children(recursive=True))]

    def _alive(self) -> list[psutil.Process]:
        return [one for one in psutil.process_iter() if _environ(one).get(MARK) == self._mark]


def _environ(process: psutil.Process) -> dict[str, str]:
    with suppress(psutil.Error, OSError):
        if process.status() != psutil.STATUS_ZOMBIE:
            return dict(process.environ())
    return {}


def _cluster(process: psutil.Process) -> str:
    return _environ(process).get("Q_CLUSTER_NAME", "")


def _is_main(process: psutil.Process) -> bool:
    """Whether it is `manage.py work` itself: the one whose parent is its tether."""
    with suppress(psutil.Error):
        parent = process.parent()
        return parent is not None and any(part.endswith("tether.py") for part in parent.cmdline())
    return False


def _oldest_first(processes: list[psutil.Process]) -> list[psutil.Process]:
    return sorted(processes, key=lambda one: (one.create_time(), one.pid))


def clean_environment(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    return {**kept, "NO_PROXY": f"{HOST},localhost", **variables}


@contextmanager
def outside(port: int, *, webhook_url: str, said: IO[bytes]) -> Iterator[SandboxClient]:
    """A sandbox that lives as long as the block, and as long as we do."""
    argv = [sys.executable, "-m", "sandbox", "--port", str(port), "--webhook-url", webhook_url]
    tether, line = launch(
        [*argv, "--latency", "0.05"],
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=said.fileno(),
    )
    client = SandboxClient(f"http://{HOST}:{port}")
    try:
        wait_until(
            lambda: answers(f"{client.url}/_control/health"),
            SLOW_START,
            NotStarted("the sandbox does not start"),
        )
        yield client
    finally:
        line.close()
        tether.wait()


def wait_until(condition: Callable[[], bool], seconds: float, otherwise: Exception) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise otherwise
        time.sleep(0.1)


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])
