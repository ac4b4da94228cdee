"""A whole site as deploy/ runs it: the units' own command lines behind the deployed nginx."""

import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.child_env import child_env
from tests.deploy.units import ROOT, command, value
from tests.nginx import Nginx, running_nginx

SECRET_KEY = "a-key-that-only-the-tests-of-deploy-ever-see-51c07ab93e"
TOKEN = "a-service-token-that-only-these-tests-see"
STOP_TIMEOUT = 30
# systemd's protocol: the socket is descriptor 3, and the variables name the process itself.
PASS_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass
class DeployedSite:
    folder: Path
    nginx: Nginx
    sandbox: SandboxClient
    http: httpx.Client  # through nginx, by TLS
    environment: dict[str, str]
    processes: dict[str, subprocess.Popen] = field(default_factory=dict)  # by unit

    def manage(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=child_env(**self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
            umask=0o077,
        )


@contextmanager
def deployed_site(folder: Path, **environment: str) -> Iterator[DeployedSite]:
    """SQLite and a sandbox of its own. Yields when every process answers."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    sockets = {f"oracle-web@{n}.service": folder / f"web-{n}.sock" for n in (1, 2)}
    reader = folder / "reader.sock"
    with ExitStack() as stack:
        nginx = stack.enter_context(
            running_nginx(folder / "nginx", web=[*sockets.values()], reader=reader, limits=False)
        )
        webhook = f"{nginx.plain_url}/api/webhook"
        sandbox = stack.enter_context(running_sandbox(webhook_url=webhook))
        http = stack.enter_context(
            httpx.Client(base_url=nginx.url, verify=nginx.tls, timeout=40, trust_env=False)
        )
        settings = production(data, nginx.url, sandbox.url) | environment
        site = DeployedSite(folder, nginx, sandbox, http, settings)
        site.manage("migrate", "--verbosity=0").check_returncode()
        site.manage("preflight", "--collect-static").check_returncode()
        for unit, path in sockets.items():
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(str(path))
            listening.listen(1024)
            stack.enter_context(running_unit(site, unit, listening=listening))
        replaced = {"/run/oracle-reader/reader.sock": str(reader)}
        stack.enter_context(running_unit(site, "oracle-reader.service", replaced))
        for unit in ("oracle-generate.service", "oracle-worker.service"):
            stack.enter_context(running_unit(site, unit))
        yield site


def production(data: Path, url: str, sandbox: str) -> dict[str, str]:
    """Settings as on a public host, except that the sandbox stands in for keys."""
    return {
        "DEBUG": "0",
        "ORACLE_ALLOW_SANDBOX": "1",
        "SECRET_KEY": SECRET_KEY,
        "BEHIND_PROXY": "1",
        "SITE_URL": url,
        "SANDBOX_URL": sandbox,
        "DATABASE_URL": f"sqlite:///{data}/oracle.sqlite3",
        "ORACLE_LOG_NAME": "deployed",
        "ORACLE_LOG_PATH": str(data / "oracle_log.jsonl"),
        "ORACLE_STATIC_PATH": str(data / "static"),
        "ORACLE_SERVICE_TOKENS": TOKEN,
        "NO_PROXY": "127.0.0.1",
    }


@contextmanager
def running_unit(
    site: DeployedSite,
    unit: str,
    replaced: Mapping[str, str] = {},
    listening: socket.socket | None = None,
) -> Iterator[subprocess.Popen]:
    """What systemd does for a unit, its sandboxing apart: command, environment, umask, socket."""
    name = unit.replace("@1", "@").replace("@2", "@")
    arguments = [replaced.get(each, each) for each in command(name)]
    # These tests may run in another virtual environment than the checkout's.
    arguments = [sys.executable if each == ".venv/bin/python" else each for each in arguments]
    own = [value(name, "Environment")] if "Environment=" in unit_text(name) else []
    environment = site.environment | dict(each.split("=", 1) for each in own)
    if listening:
        number = str(listening.fileno())
        arguments = [sys.executable, "-c", PASS_SOCKET, number, *arguments]
    process = subprocess.Popen(
        arguments,
        cwd=ROOT,
        env=child_env(**environment),
        umask=int(value(name, "UMask"), 8),
        pass_fds=[listening.fileno()] if listening else [],
    )
    site.processes[unit] = process
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def unit_text(name: str) -> str:
    return (ROOT / "deploy/systemd" / name).read_text()
