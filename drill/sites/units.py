"""Runs the units of deploy/systemd without systemd, for drills and tests.

It provides what the units rely on: the environment file, ExecStartPre, sockets that stay open
while a service restarts, an empty runtime directory at every start, Restart=always, SIGTERM to
the main process only, and SIGKILL to the remaining processes of a service.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Self

import psutil

from drill.sites.processes import ROOT, processes_with
from drill.sites.unit_file import Unit, load

BACKLOG: Final = 1024
INVOCATION: Final = "INVOCATION_ID"  # systemd sets it too
# A shell sources the file, as operators do for commands.
_SHELL: Final = 'set -a; . "$0"; set +a; exec "$@"'
# systemd passes sockets from descriptor 3 on; Debian's shell cannot duplicate one above 9.
_ACTIVATE: Final = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execvp(sys.argv[2], sys.argv[2:])
"""


class StartFailed(Exception):
    """An ExecStartPre command failed; its output is in the host's output file."""


class Host:
    """The services of one host: one folder, one environment file."""

    def __init__(
        self,
        folder: Path,
        *,
        environment: Mapping[str, str],
        output: Path | None = None,
        code: Path = ROOT,
        web: socket.socket | None = None,
    ) -> None:
        """`environment` is added to that of every service; `web` is one socket for all web
        instances, instead of one each."""
        self.code = folder / "current"
        self.settings = folder / "oracle.env"
        self.output = output or folder / "services.log"
        # Not below `folder`: the path of a Unix socket has at most 107 bytes.
        self.run = Path(tempfile.mkdtemp(prefix="oracle-run-"))
        self._environment = dict(environment)
        self._web = web
        self._services: dict[str, Service] = {}
        if not self.code.is_symlink():
            self.code.symlink_to(code)
        self.settings.touch()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(*reversed(self._services))
        for service in self._services.values():
            if service.listener and service.listener is not self._web:
                service.listener.close()
        shutil.rmtree(self.run, ignore_errors=True)

    def set(self, **variables: str) -> None:
        """Replace the environment file; services read it when they start."""
        self.settings.write_text("".join(f"{k}='{v}'\n" for k, v in variables.items()))

    def start(self, *names: str) -> None:
        """Raises StartFailed."""
        for name in names:
            unit = load(name, self._paths())
            if name not in self._services:
                self._services[name] = Service(self, unit, self._listener(unit))
            self._services[name].start(unit)

    def stop(self, *names: str) -> None:
        stopping = [threading.Thread(target=self._services[name].stop) for name in names]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()

    def restart(self, *names: str) -> None:
        """One after the other. Raises StartFailed."""
        for name in names:
            self.stop(name)
            self.start(name)

    def processes(self, name: str) -> list[psutil.Process]:
        """Those of a service, oldest first: the first is its main process."""
        return self._services[name].processes()

    def web_socket(self, number: int) -> Path:
        """The path of a web instance's Unix socket."""
        path = load(f"oracle-web@{number}", self._paths()).socket
        if path is None:
            raise LookupError("no socket unit")
        return path

    @property
    def reader_socket(self) -> Path:
        return self.run / "oracle-reader/reader.sock"

    def launch(
        self, command: Sequence[str], unit: Unit, output: IO[bytes], **more: str
    ) -> "subprocess.Popen[bytes]":
        listener = self._services[unit.name].listener
        argv = [_python(word, self.code) for word in command]
        if listener:
            argv = [sys.executable, "-c", _ACTIVATE, str(listener.fileno()), *argv]
        return subprocess.Popen(
            ["/bin/sh", "-c", _SHELL, str(self.settings), *argv],
            cwd=self.code.resolve(),  # as systemd does: the link may point elsewhere later
            env={**self._environment, **unit.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=[listener.fileno()] if listener else [],
        )

    def _paths(self) -> dict[str, str]:
        return {
            "/srv/oracle/current": str(self.code),
            "/etc/oracle/oracle.env": str(self.settings),
            "/run/": f"{self.run}/",
        }

    def _listener(self, unit: Unit) -> socket.socket | None:
        if unit.socket is None or self._web:
            return self._web if unit.socket else None
        unit.socket.parent.mkdir(exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(unit.socket))
        listener.listen(BACKLOG)
        return listener


class Service:
    """One service: its main process is restarted whenever it ends, until the service is stopped."""

    def __init__(self, host: Host, unit: Unit, listener: socket.socket | None) -> None:
        self.listener = listener
        self._host, self._unit = host, unit
        self._invocation = ""
        self._stopping = threading.Event()
        self._supervisor: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, unit: Unit) -> None:
        if self._supervisor and self._supervisor.is_alive():
            return
        self._unit = unit
        self._stopping.clear()
        self._launch()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._process and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self._unit.stop_timeout)
        self._kill_rest()
        while self._supervisor and self._supervisor.is_alive():  # it may be in a restart
            self._supervisor.join(0.1)
            self._kill_rest()

    def processes(self) -> list[psutil.Process]:
        found = processes_with(INVOCATION, self._invocation)
        return sorted(found, key=lambda one: (one.create_time(), one.pid))

    def _supervise(self) -> None:
        while self._process:
            self._process.wait()
            if self._stopping.is_set():
                return
            self._kill_rest()
            if self._stopping.wait(self._unit.restart_after):
                return
            with suppress(StartFailed):  # retried, as by systemd
                self._launch()

    def _launch(self) -> None:
        unit = self._unit
        self._invocation = uuid.uuid4().hex
        if unit.runtime_directory:
            folder = self._host.run / unit.runtime_directory
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        with self._host.output.open("ab") as output:
            for command in unit.commands:
                if self._host.launch(command, unit, output).wait():
                    raise StartFailed(f"{unit.name}: {' '.join(command)}")
            self._process = self._host.launch(
                unit.command, unit, output, **{INVOCATION: self._invocation}
            )

    def _kill_rest(self) -> None:
        while left := self.processes():  # repeated for processes forked meanwhile
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            time.sleep(0.01)


def _python(word: str, code: Path) -> str:
    """A release has its own virtual environment; without one this process's Python is used."""
    return sys.executable if word == ".venv/bin/python" and not (code / word).exists() else word
