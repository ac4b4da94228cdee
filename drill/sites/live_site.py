"""A complete site in its own processes: web, workers and sandbox, as `make run` starts them."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import psutil

from drill.sites.child_env import child_env
from drill.sites.postgresql import new_database
from drill.sites.processes import ROOT, Program, running, wait_for
from drill.sites.site import free_port, responds
from drill.sites.units import Host
from sandbox.client import SandboxClient


@dataclass(frozen=True)
class LiveSite:
    url: str
    sandbox: SandboxClient
    http: httpx.Client
    runs: Program | Host  # `make run`, or the units of deploy/systemd
    log: Path
    variables: dict[str, str]

    def manage(self, *arguments: str) -> str:
        """The output of a management command, run with the site's database and sandbox."""
        command = [sys.executable, "manage.py", *arguments]
        env = child_env(**{**self.variables, "SANDBOX_URL": self.sandbox.url})
        done = subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)
        return done.stdout.decode()

    def workers(self, queue: str) -> list[psutil.Process]:
        """The processes of `manage.py worker` for this queue, oldest first; `make run` only."""
        if not isinstance(self.runs, Program):
            raise TypeError("only a site that was started by `make run` knows its workers")
        found = [
            one
            for one in self.runs.alive()
            if one.environ().get("Q_CLUSTER_NAME") == queue and "manage.py" in one.cmdline()
        ]
        return sorted(found, key=lambda one: (one.create_time(), one.pid))

    def buy(self, tier: str, query: str, email: str) -> str:
        """Order and pay as a customer would; returns the session's id."""
        order = {"tier": tier, "query": query, "email": email}
        session = self.http.post("/api/checkout", json=order).raise_for_status().json()
        self.sandbox.pay(session["session_id"], email=email)
        return str(session["session_id"])

    def result(self, session_id: str) -> httpx.Response:
        return self.http.get("/oracle/result", params={"session_id": session_id})

    def api(self, session_id: str) -> httpx.Response:
        return self.http.get("/api/verdict", params={"session_id": session_id})

    def wait_for_mail(self, to: str, count: int = 1) -> list[dict[str, Any]]:
        wait_for(lambda: len(self.sandbox.messages(to=to)) >= count)
        return self.sandbox.messages(to=to)


@cache
def migrated_database() -> Path:
    """An SQLite file with all migrations applied, shared as a template by all sites of a run."""
    folder = Path(tempfile.mkdtemp(prefix="oracle-migrated-"))
    atexit.register(shutil.rmtree, folder)
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    env = child_env(DATABASE_URL=f"sqlite:///{folder}/live.sqlite3")
    subprocess.run(migrate, cwd=ROOT, env=env, check=True)
    return folder / "live.sqlite3"


@contextmanager
def database_url(folder: Path) -> Iterator[str]:
    """The URL of a new database: on the PostgreSQL server of DATABASE_URL, or an SQLite file."""
    server = os.environ.get("DATABASE_URL")
    if not server:
        shutil.copy(migrated_database(), folder / "live.sqlite3")
        yield f"sqlite:///{folder}/live.sqlite3"
        return
    with new_database(server) as url:
        yield url


@contextmanager
def live_site(folder: Path, **environment: str) -> Iterator[LiveSite]:
    """Up and responding for the duration of the block; `environment` is the site's."""
    port, sandbox_port = free_port(), free_port()
    ports = ["--port", str(port), "--sandbox-port", str(sandbox_port)]
    log = folder / "oracle_log.jsonl"
    with database_url(folder) as url:
        command = [sys.executable, "-m", "oracle_site.dev.dev_setup", *ports]
        variables = {"DATABASE_URL": url, "ORACLE_LOG_PATH": str(log), **environment}
        with running(command, **variables) as program:
            program.wait_for_output("Stop")
            address = f"http://127.0.0.1:{port}"
            sandbox = SandboxClient(f"http://127.0.0.1:{sandbox_port}")
            wait_for(lambda: responds(f"{sandbox.url}/_control/health"))
            wait_for(lambda: responds(f"{address}/healthz"))
            with httpx.Client(base_url=address, timeout=30, trust_env=False) as http:
                yield LiveSite(address, sandbox, http, program, log, variables)
