"""Programs that serve for as long as a block runs, all on the server's core."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx
import psutil

from benchmarks.machine import SERVER, found, on_core
from drill.sites.unit_file import load

ROOT: Final = Path(__file__).resolve().parent.parent
HOST: Final = "127.0.0.1"
LISTEN_TIMEOUT: Final = 60.0  # seconds until a server must listen
GRACE: Final = 10.0  # seconds that it has to end


class NotStarted(Exception):
    """A server that was to be measured does not answer; the message is what it said."""


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def started(
    command: Sequence[str],
    *,
    port: int | Path,
    folder: Path,
    env: Mapping[str, str] | None = None,
    core: int = SERVER,
    cwd: Path = ROOT,
    keeps: Sequence[int] = (),
) -> Iterator[psutil.Process]:
    """Yields the process once it listens at `port`, which may be the path of a socket.

    In a session of its own, as systemd starts services: the kernel shares a core fairly
    between sessions, and not between all threads of all of them.
    """
    said = folder / f"{Path(command[0]).name}-{port if isinstance(port, int) else port.name}.log"
    with said.open("wb") as log, on_core(core):
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=log,
            stderr=log,
            pass_fds=keeps,
            start_new_session=True,
        )
    try:
        _wait(process, port, said)
        yield psutil.Process(process.pid)
    finally:
        _end(process)


def _wait(process: "subprocess.Popen[bytes]", port: int | Path, said: Path) -> None:
    deadline = time.monotonic() + LISTEN_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError):
            if isinstance(port, Path):
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.connect(str(port))
            else:
                socket.create_connection((HOST, port), timeout=1).close()
            return
        time.sleep(0.02)
    raise NotStarted(said.read_text(errors="replace")[-2_000:])


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(psutil.NoSuchProcess):
        whole = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        process.terminate()
        _, left = psutil.wait_procs(whole, timeout=GRACE)
        for one in left:
            with suppress(psutil.NoSuchProcess):
                one.kill()
    process.wait()


def family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def wait_until_idle(process: psutil.Process, timeout: float = 60.0) -> None:
    """Until it has done what it put off, so that the next measurement has the core for itself."""
    deadline = time.monotonic() + timeout
    quiet = 0
    before = _spent(process)
    while quiet < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
        now = _spent(process)
        quiet = quiet + 1 if now - before < 0.02 else 0
        before = now


def _spent(process: psutil.Process) -> float:
    total = 0.0
    for one in family(process):
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system
    return total


@contextmanager
def reader(env: Mapping[str, str], folder: Path) -> Iterator[tuple[psutil.Process, str]]:
    """The reader of cached verdicts as its unit starts it, but on a port; and its address."""
    port = free_port()
    unit = load("oracle-reader", {})
    socket_at = unit.command.index("--uds")  # its path, and its permissions, follow
    at_port = ["--host", HOST, "--port", str(port)]
    arguments = [*unit.command[2:socket_at], *at_port, *unit.command[socket_at + 4 :]]
    with started([sys.executable, *arguments], port=port, folder=folder, env=env) as process:
        yield process, f"http://{HOST}:{port}"


@contextmanager
def web(
    env: Mapping[str, str], folder: Path, *, regenerations: int | None = None
) -> Iterator[tuple[psutil.Process, str]]:
    """A web instance as its unit starts it, but on a port; and its address."""
    port = free_port()
    unit = load("oracle-web@1", {})
    chosen = {**env, **unit.environment, "ORACLE_PORT": str(port)}
    chosen["ORACLE_STATIC_PATH"] = str(folder / "static")
    if regenerations:
        chosen["ORACLE_MAX_REGENERATIONS"] = str(regenerations)
    for command in unit.commands:
        before = [sys.executable, *command[2:]]
        subprocess.run(before, cwd=ROOT, env={**os.environ, **chosen}, check=True)
    command = [sys.executable, *unit.command[2:]]
    with started(command, port=port, folder=folder, env=chosen) as process:
        url = f"http://{HOST}:{port}"
        _wait_for_answer(f"{url}/healthz", process)
        yield process, url


def _wait_for_answer(url: str, process: psutil.Process) -> None:
    """The socket is there before the server is: only an answer tells."""
    deadline = time.monotonic() + LISTEN_TIMEOUT
    while time.monotonic() < deadline and process.is_running():
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=LISTEN_TIMEOUT, trust_env=False).raise_for_status()
            return
        time.sleep(0.05)
    raise NotStarted(f"{url} does not answer")


# What each is started with.


def granian(application: str, port: int, *, threads: int) -> list[str]:
    """A WSGI application under granian, one worker, as its manual would have it for one core."""
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1"),
        *("--host", HOST, "--port", str(port), "--workers", "1", "--no-access-log"),
        *("--blocking-threads", str(threads), "--blocking-threads-idle-timeout", "600"),
        *("--backlog", "1024", "--backpressure", "1024", "--log-level", "warning"),
        application,
    ]


def gunicorn(application: str, port: int, *, threads: int) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", "--bind", f"{HOST}:{port}", "--workers", "1"),
        *("--worker-class", "gthread", "--threads", str(threads), "--keep-alive", "60"),
        *("--worker-connections", "1024", "--log-level", "warning", application),
    ]


def uvicorn(application: str, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "uvicorn", "--host", HOST, "--port", str(port)),
        *("--loop", "uvloop", "--http", "httptools", "--no-access-log"),
        *("--log-level", "warning", application),
    ]


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """The address of a Redis that keeps everything in memory."""
    path = folder / "redis.sock"
    command = [found("redis-server") or "", "--port", "0", "--unixsocket", str(path)]
    command += ["--save", "", "--appendonly", "no", "--dir", str(folder)]
    with started(command, port=path, folder=folder):
        yield f"unix://{path}"


NGINX: Final = """
{user}
worker_processes 1;
daemon off;
error_log {folder}/nginx-error.log;
pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=10;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {host}:{port};
        root {folder};
        location / {{ default_type application/json; try_files /verdict.json =404; }}
    }}
}}
"""


def nginx(port: int, folder: Path, body: bytes) -> list[str]:
    """One static file, whatever is asked for."""
    (folder / "verdict.json").write_bytes(body)
    user = "user root;" if os.getuid() == 0 else ""
    conf = folder / "nginx.conf"
    conf.write_text(NGINX.format(folder=folder, host=HOST, port=port, user=user))
    return [found("nginx") or "", "-c", str(conf), "-p", str(folder)]
