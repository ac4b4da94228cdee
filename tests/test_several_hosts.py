"""Two web hosts and two worker hosts on one PostgreSQL: one site, four append-only logs."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.db import connection

from drill.sites.child_env import child_env
from drill.sites.live_site import database_url
from drill.sites.processes import ROOT, wait_for
from drill.sites.served_site import migrate, production, serving
from drill.sites.site import free_port
from drill.sites.units import Host
from sandbox.client import SandboxClient
from sandbox.running import running_sandbox

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="several hosts need PostgreSQL"),
]
WEBS, WORKERS = ("web-a", "web-b"), ("work-a", "work-b")
# A web host writes its own log lines, by oracle-flush-log: it runs no sweep.
SERVICES = {
    **dict.fromkeys(WEBS, ("oracle-web@1", "oracle-flush-log")),
    **dict.fromkeys(WORKERS, ("oracle-generate", "oracle-worker")),
}


@dataclass(frozen=True)
class Machine:
    variables: dict[str, str]
    host: Host

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.variables["SITE_URL"] + path, timeout=40, trust_env=False)

    def manage(self, *arguments: str) -> str:
        run = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=child_env(**self.variables),
            check=True,
            capture_output=True,
            text=True,
        )
        return run.stdout.strip()

    def buy(self, sandbox: SandboxClient, email: str) -> str:
        order = {"tier": "quick", "query": "A ferry to the island?", "email": email}
        url = f"{self.variables['SITE_URL']}/api/checkout"
        created = httpx.post(url, json=order, timeout=40, trust_env=False).raise_for_status()
        sandbox.pay(created.json()["session_id"], email=email)
        return created.json()["session_id"]


@pytest.fixture
def sandbox_and_machines(tmp_path: Path) -> Iterator[tuple[SandboxClient, dict[str, Machine]]]:
    ports = {name: free_port() for name in WEBS}
    webhook = f"http://127.0.0.1:{ports['web-a']}/api/webhook"
    with ExitStack() as stack:
        url = stack.enter_context(database_url(tmp_path))
        sandbox = stack.enter_context(running_sandbox(webhook_url=webhook))
        machines = {}
        for name, services in SERVICES.items():
            folder = tmp_path / name
            folder.mkdir()
            site = f"http://127.0.0.1:{ports.get(name, 1)}"
            variables = production(folder, sandbox, site_url=site, url=url)
            variables |= {"ORACLE_GENERATE_WORKERS": "1"}
            if not machines:
                migrate(variables)
            host = serving(folder, variables, *services, port=ports.get(name))
            machines[name] = Machine(variables, stack.enter_context(host))
        yield sandbox, machines


def test_every_host_takes_part_and_every_log_verifies(sandbox_and_machines):
    sandbox, machines = sandbox_and_machines
    a, b = (machines[name] for name in WEBS)
    sandbox.settings(latency=0.5)  # slow enough that both worker hosts get orders
    sessions = [
        (a, b)[number % 2].buy(sandbox, f"buyer{number}@example.com") for number in range(8)
    ]
    for session in sessions:
        path = f"/api/verdict?session_id={session}"
        wait_for(lambda path=path: {a.get(path).status_code, b.get(path).status_code} == {200})
        assert a.get(path).json() == b.get(path).json()
    for number in range(8):
        wait_for(lambda n=number: len(sandbox.messages(to=f"buyer{n}@example.com")) == 1)

    for host, session in ((a, sessions[0]), (b, sessions[1])):
        machines["work-a"].manage("evict", session, "--reason", "a test")
        assert host.get(f"/api/verdict?session_id={session}").json()["regen"] is True

    # Each host logged its own crosschecks.
    logged = Counter(
        machines["work-a"]
        .manage(
            "shell",
            "--no-imports",
            "-c",
            "from audit.models import LogEntry\n"
            "for one in LogEntry.objects.filter(entry__contains='tmm_crosscheck'): print(one.host)",
        )
        .split()
    )
    assert logged["web-a"] == logged["web-b"] == 1
    assert logged["work-a"] > 0
    assert logged["work-b"] > 0
    assert logged["work-a"] + logged["work-b"] == 8
    for host in machines.values():
        assert host.manage("audit_verify").startswith("Sound: ")
