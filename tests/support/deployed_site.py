"""A whole site as in deploy/: the systemd units behind the deployed nginx, over TLS."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from drill.sites.child_env import child_env
from drill.sites.served_site import SECRET_KEY
from drill.sites.units import Host
from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.support.nginx import Nginx, running_nginx
from tests.support.systemd_analyze import ROOT, value

TOKEN = "a-service-token-that-only-these-tests-see"
SERVICES = (
    "oracle-web@1",
    "oracle-web@2",
    "oracle-reader",
    "oracle-generate",
    "oracle-worker",
)


@dataclass(frozen=True)
class DeployedSite:
    folder: Path
    nginx: Nginx
    sandbox: SandboxClient
    http: httpx.Client  # through nginx
    host: Host
    settings: dict[str, str]

    def manage(self, *arguments: str) -> subprocess.CompletedProcess:
        return manage(self.settings, *arguments)


@contextmanager
def deployed_site(folder: Path, *, code: Path = ROOT, **environment: str) -> Iterator[DeployedSite]:
    """With a new SQLite database and its own sandbox."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    with ExitStack() as stack:
        stack.callback(os.umask, os.umask(int(value("oracle-web@.service", "UMask"), 8)))
        host = stack.enter_context(Host(folder, environment=child_env(), code=code))
        web = [host.web_socket(number) for number in (1, 2)]
        nginx = stack.enter_context(
            running_nginx(folder / "nginx", web=web, reader=host.reader_socket, limits=False)
        )
        webhook = f"{nginx.plain_url}/api/webhook"
        sandbox = stack.enter_context(running_sandbox(webhook_url=webhook))
        http = stack.enter_context(
            httpx.Client(base_url=nginx.url, verify=nginx.tls, timeout=40, trust_env=False)
        )
        settings = production(data, nginx.url, sandbox.url) | environment
        manage(settings, "migrate", "--verbosity=0").check_returncode()
        host.set(**settings)
        host.start(*SERVICES)
        yield DeployedSite(folder, nginx, sandbox, http, host, settings)


def production(data: Path, url: str, sandbox: str) -> dict[str, str]:
    """Settings of a public host, but with the sandbox instead of keys."""
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


def manage(settings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=child_env(**settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )
