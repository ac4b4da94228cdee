"""A site as `make serve` runs it, with a sandbox beside it in this process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.child_env import child_env
from tests.live_site import LiveSite, database_url, free_port
from tests.oracle_site.supervise.house import ROOT, running

SECRET_KEY = "a-key-that-only-the-tests-of-make-serve-ever-see-4be19f"


def production(folder: Path, sandbox: SandboxClient, *, port: int, url: str) -> dict[str, str]:
    """Settings as on a public host, except that the sandbox stands in for keys."""
    return {
        "DEBUG": "0",
        "ORACLE_ALLOW_SANDBOX": "1",
        "SECRET_KEY": SECRET_KEY,
        "DATABASE_URL": url,
        "ORACLE_PORT": str(port),
        "SITE_URL": f"http://127.0.0.1:{port}",
        "SANDBOX_URL": sandbox.url,
        "ORACLE_LOG_NAME": folder.name,
        "ORACLE_LOG_PATH": str(folder / "oracle_log.jsonl"),
        "ORACLE_STATIC_PATH": str(folder / "static"),
        "NO_PROXY": "127.0.0.1",
    }


def command(folder: Path, *arguments: str) -> list[str]:
    control = ["--control", str(folder / "serve.sock")]
    return [sys.executable, "-m", "oracle_site.serve", *control, *arguments]


def migrate(variables: dict[str, str]) -> None:
    migrating = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    subprocess.run(migrating, cwd=ROOT, env=child_env(**variables), check=True)


@contextmanager
def served_site(folder: Path, *arguments: str, **environment: str) -> Iterator[LiveSite]:
    """Database, sandbox and server of its own; `arguments` go to `make serve`."""
    port = free_port()
    webhook = f"http://127.0.0.1:{port}/api/webhook"
    with database_url(folder) as url, running_sandbox(webhook_url=webhook) as sandbox:
        variables = production(folder, sandbox, port=port, url=url) | environment
        migrate(variables)
        with running(command(folder, *arguments), **variables) as house:
            house.read_until("Stop")
            site = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=site, timeout=40, trust_env=False) as http:
                log = Path(variables["ORACLE_LOG_PATH"])
                yield LiveSite(site, sandbox, http, house, log, variables)


def restart(folder: Path) -> subprocess.CompletedProcess:
    """`make restart`, as somebody beside the site would do it."""
    return subprocess.run(
        command(folder, "--restart"), cwd=ROOT, capture_output=True, text=True, check=False
    )


def start(folder: Path, variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    """A start that is expected to come to nothing."""
    return subprocess.run(
        command(folder, *arguments),
        cwd=ROOT,
        env=child_env(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
