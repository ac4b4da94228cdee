"""The drilled site: the units of deploy/systemd on one loopback port, and a sandbox process."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

import httpx
import psutil

from drill.failures import NotStarted
from drill.sites.processes import ROOT
from drill.sites.units import BACKLOG, Host, StartFailed
from sandbox.client import SandboxClient

HOST: Final = "127.0.0.1"
# The only variables inherited: the caller's own settings must not change the drilled site.
INHERITED: Final = ("PATH", "PYTHONPATH", "HOME", "LANG", "LC_", "TMPDIR")
START_TIMEOUT: Final = 90.0
WORKERS: Final = {"generate": "oracle-generate", "post": "oracle-worker"}  # by queue
SERVICES: Final = (*WORKERS.values(), "oracle-web@1", "oracle-web@2")


class Site:
    """Both web instances accept on the same port, so no proxy is needed."""

    def __init__(
        self, port: int, *, folder: Path, output: Path, environment: Mapping[str, str]
    ) -> None:
        self.url = f"http://{HOST}:{port}"
        self._port, self._folder, self._output = port, folder, output
        self._environment = clean_environment(environment)
        self._host: Host | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Migrated, started and responding when the block begins; stopped at its end."""
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        with ExitStack() as stack:
            output = stack.enter_context(self._output.open("ab"))
            subprocess.run(
                migrate, cwd=ROOT, env=self._environment, stdout=output, stderr=output, check=True
            )
            listener = socket.create_server((HOST, self._port), backlog=BACKLOG)
            self._host = stack.enter_context(
                Host(
                    self._folder,
                    environment=self._environment,
                    output=self._output,
                    web=stack.enter_context(listener),
                )
            )
            not_started = NotStarted(f"the site does not start: see {self._output}")
            try:
                self._host.start(*SERVICES)
            except StartFailed:
                raise not_started from None
            wait_until(lambda: responds(f"{self.url}/healthz"), START_TIMEOUT, not_started)
            yield

    def restart(self, **settings: str) -> None:
        """As operators do it: change the environment file, then restart one unit at a time."""
        self._running.set(**settings)
        failed = NotStarted(f"the site does not restart: see {self._output}")
        for name in SERVICES:
            wait_until(lambda name=name: self._restarts(name), START_TIMEOUT, failed)  # type: ignore[misc]

    def _restarts(self, name: str) -> bool:
        try:
            self._running.restart(name)
        except StartFailed:  # its database may be restarting at the moment
            return False
        return True

    def pool(self, queue: str) -> list[psutil.Process]:
        """The processes of a queue's pool, oldest first: guard, workers, monitor, pusher."""
        _main, _leader, *pool = self._running.processes(WORKERS[queue])
        return pool

    @property
    def _running(self) -> Host:
        if self._host is None:
            raise NotStarted("the site is not running")
        return self._host


def clean_environment(variables: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name.startswith(INHERITED)}
    return {**inherited, "NO_PROXY": f"{HOST},localhost", **variables}


@contextmanager
def sandbox_process(port: int, *, webhook_url: str, output: IO[bytes]) -> Iterator[SandboxClient]:
    """A sandbox in its own process for the duration of the block. Raises NotStarted."""
    argv = [sys.executable, "-m", "sandbox", "--port", str(port), "--webhook-url", webhook_url]
    process = subprocess.Popen(
        [*argv, "--latency", "0.05"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=output
    )
    client = SandboxClient(f"http://{HOST}:{port}")
    try:
        wait_until(
            lambda: responds(f"{client.url}/_control/health"),
            START_TIMEOUT,
            NotStarted("the sandbox does not start"),
        )
        yield client
    finally:
        process.terminate()
        process.wait()


def responds(url: str) -> bool:
    """Whether a GET succeeds, without any configured proxy."""
    try:
        return httpx.get(url, timeout=2.0, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float, otherwise: Exception) -> None:
    """Raises `otherwise` after the time-out."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise otherwise
        time.sleep(0.1)


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])
