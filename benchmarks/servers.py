"""Context managers that run a server on the server's core while a block runs."""

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

from benchmarks.machine import SERVER_CORE, find_program, pinned_to_core
from drill.sites.unit_file import load

ROOT: Final = Path(__file__).resolve().parent.parent
HOST: Final = "127.0.0.1"
LISTEN_TIMEOUT: Final = 60.0  # seconds
STOP_TIMEOUT: Final = 10.0  # seconds from SIGTERM to SIGKILL


class ServerNotStarted(Exception):
    """A server does not answer; the message is the end of its output."""


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def running_server(
    command: Sequence[str],
    *,
    port: int | Path,
    folder: Path,
    env: Mapping[str, str] | None = None,
    core: int = SERVER_CORE,
    cwd: Path = ROOT,
    pass_fds: Sequence[int] = (),
) -> Iterator[psutil.Process]:
    """Yields the process once it listens on `port`, which may be the path of a Unix socket.

    The process gets its own session, as systemd services do: the scheduler divides a
    core fairly between sessions, not between all their threads.
    """
    log_path = (
        folder / f"{Path(command[0]).name}-{port if isinstance(port, int) else port.name}.log"
    )
    with log_path.open("wb") as log, pinned_to_core(core):
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=log,
            stderr=log,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    try:
        _wait_until_listening(process, port, log_path)
        yield psutil.Process(process.pid)
    finally:
        _stop(process)


def _wait_until_listening(
    process: "subprocess.Popen[bytes]", port: int | Path, log_path: Path
) -> None:
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
    raise ServerNotStarted(log_path.read_text(errors="replace")[-2_000:])


def _stop(process: "subprocess.Popen[bytes]") -> None:
    with suppress(psutil.NoSuchProcess):
        processes = process_tree(psutil.Process(process.pid))
        process.terminate()
        _, alive = psutil.wait_procs(processes, timeout=STOP_TIMEOUT)
        for one in alive:
            with suppress(psutil.NoSuchProcess):
                one.kill()
    process.wait()


def process_tree(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def wait_until_idle(process: psutil.Process, timeout: float = 60.0) -> None:
    """Wait until deferred work is done, so that the next measurement has the core to itself."""
    deadline = time.monotonic() + timeout
    idle_samples = 0
    before = _cpu_seconds(process)
    while idle_samples < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
        now = _cpu_seconds(process)
        idle_samples = idle_samples + 1 if now - before < 0.02 else 0
        before = now


def _cpu_seconds(process: psutil.Process) -> float:
    total = 0.0
    for one in process_tree(process):
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system
    return total


@contextmanager
def running_reader(env: Mapping[str, str], folder: Path) -> Iterator[tuple[psutil.Process, str]]:
    """The reader of cached verdicts, started as by its systemd unit but on a TCP port.

    Yields its process and URL.
    """
    port = free_port()
    unit = load("oracle-reader", {})
    uds = unit.command.index("--uds")  # followed by the socket's path and its permissions
    tcp = ["--host", HOST, "--port", str(port)]
    command = [sys.executable, *unit.command[2:uds], *tcp, *unit.command[uds + 4 :]]
    with running_server(command, port=port, folder=folder, env=env) as process:
        yield process, f"http://{HOST}:{port}"


@contextmanager
def running_web(
    env: Mapping[str, str], folder: Path, *, max_regenerations: int | None = None
) -> Iterator[tuple[psutil.Process, str]]:
    """A web process, started as by its systemd unit but on a TCP port. Yields process and URL."""
    port = free_port()
    unit = load("oracle-web@1", {})
    web_env = {**env, **unit.environment, "ORACLE_PORT": str(port)}
    web_env["ORACLE_STATIC_PATH"] = str(folder / "static")
    if max_regenerations:
        web_env["ORACLE_MAX_REGENERATIONS"] = str(max_regenerations)
    for command in unit.pre_commands:
        start_pre = [sys.executable, *command[2:]]
        subprocess.run(start_pre, cwd=ROOT, env={**os.environ, **web_env}, check=True)
    command = [sys.executable, *unit.command[2:]]
    with running_server(command, port=port, folder=folder, env=web_env) as process:
        url = f"http://{HOST}:{port}"
        _wait_until_healthy(f"{url}/healthz", process)
        yield process, url


def _wait_until_healthy(url: str, process: psutil.Process) -> None:
    """The socket accepts connections before the application is loaded, so wait for a response."""
    deadline = time.monotonic() + LISTEN_TIMEOUT
    while time.monotonic() < deadline and process.is_running():
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=LISTEN_TIMEOUT, trust_env=False).raise_for_status()
            return
        time.sleep(0.05)
    raise ServerNotStarted(f"{url} does not answer")


# Commands that start the peers.


def granian(application: str, port: int, *, threads: int) -> list[str]:
    """One worker, as granian's manual recommends for one core."""
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
def running_redis(folder: Path) -> Iterator[str]:
    """Redis without persistence, on a Unix socket; yields its URL."""
    path = folder / "redis.sock"
    command = [find_program("redis-server") or "", "--port", "0", "--unixsocket", str(path)]
    command += ["--save", "", "--appendonly", "no", "--dir", str(folder)]
    with running_server(command, port=path, folder=folder):
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
    """nginx with one static file as the response to every request."""
    (folder / "verdict.json").write_bytes(body)
    user = "user root;" if os.getuid() == 0 else ""
    conf = folder / "nginx.conf"
    conf.write_text(NGINX.format(folder=folder, host=HOST, port=port, user=user))
    return [find_program("nginx") or "", "-c", str(conf), "-p", str(folder)]
