"""A complete site as the units of deploy/systemd run it, with a sandbox in this process."""

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from drill.sites.child_env import child_env
from drill.sites.live_site import LiveSite, database_url
from drill.sites.processes import ROOT, wait_for
from drill.sites.site import free_port, responds
from drill.sites.units import BACKLOG, Host
from sandbox.client import SandboxClient
from sandbox.running import running_sandbox

SECRET_KEY = "a-key-that-only-the-tests-of-production-ever-see-4be19f"  # noqa: S105 - of no real site
WORKERS = ("oracle-generate", "oracle-worker")
SERVICES = (*WORKERS, "oracle-web@1")


def production(folder: Path, sandbox: SandboxClient, *, site_url: str, url: str) -> dict[str, str]:
    """Settings as on a public host, except that the sandbox replaces the keys."""
    return {
        "DEBUG": "0",
        "ORACLE_ALLOW_SANDBOX": "1",
        "SECRET_KEY": SECRET_KEY,
        "DATABASE_URL": url,
        "SITE_URL": site_url,
        "SANDBOX_URL": sandbox.url,
        "ORACLE_LOG_NAME": folder.name,
        "ORACLE_LOG_PATH": str(folder / "oracle_log.jsonl"),
        "ORACLE_STATIC_PATH": str(folder / "static"),
        "NO_PROXY": "127.0.0.1",
    }


def migrate(variables: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(command, cwd=ROOT, env=child_env(**variables), check=True)


@contextmanager
def serving(
    folder: Path, variables: dict[str, str], *services: str, port: int | None = None
) -> Iterator[Host]:
    """The running services. `port`: web instances listen there on loopback, not on own sockets."""
    with ExitStack() as stack:
        listener = None
        if port:
            opened = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
            listener = stack.enter_context(opened)
        environment = child_env(**variables)
        host = stack.enter_context(Host(folder, environment=environment, web=listener))
        host.start(*services)
        if port:
            wait_for(lambda: responds(f"http://127.0.0.1:{port}/healthz"))
        yield host


@contextmanager
def served_site(
    folder: Path, *, services: Sequence[str] = SERVICES, **environment: str
) -> Iterator[LiveSite]:
    """Up and responding for the duration of the block; `environment` is the site's."""
    port = free_port()
    site = f"http://127.0.0.1:{port}"
    with (
        database_url(folder) as url,
        running_sandbox(webhook_url=f"{site}/api/webhook") as sandbox,
    ):
        variables = production(folder, sandbox, site_url=site, url=url) | environment
        migrate(variables)
        with (
            serving(folder, variables, *services, port=port) as host,
            httpx.Client(base_url=site, timeout=40, trust_env=False) as http,
        ):
            log = Path(variables["ORACLE_LOG_PATH"])
            yield LiveSite(site, sandbox, http, host, log, variables)
