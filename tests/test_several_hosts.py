"""Two hosts that serve pages and two that work, on one PostgreSQL: one house, four logs."""

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

from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.child_env import child_env
from tests.live_site import database_url, free_port
from tests.oracle_site.supervise.house import ROOT, House, running, wait_for
from tests.served_site import command, migrate, production

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="hosts share a PostgreSQL"),
]
WEBS, WORKERS = ("web-a", "web-b"), ("work-a", "work-b")


@dataclass(frozen=True)
class Host:
    variables: dict[str, str]
    house: House

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
        address = f"{self.variables['SITE_URL']}/api/checkout"
        made = httpx.post(address, json=order, timeout=40, trust_env=False).raise_for_status()
        sandbox.pay(made.json()["session_id"], email=email)
        return made.json()["session_id"]


@pytest.fixture
def sandbox_and_hosts(tmp_path: Path) -> Iterator[tuple[SandboxClient, dict[str, Host]]]:
    ports = {name: free_port() for name in WEBS}
    webhook = f"http://127.0.0.1:{ports['web-a']}/api/webhook"
    with ExitStack() as stack:
        url = stack.enter_context(database_url(tmp_path))
        sandbox = stack.enter_context(running_sandbox(webhook_url=webhook))
        hosts = {}
        for name in (*WEBS, *WORKERS):
            folder = tmp_path / name
            folder.mkdir()
            variables = production(folder, sandbox, port=ports.get(name, 1), url=url)
            variables |= {"ORACLE_WEB_PROCESSES": "1", "ORACLE_GENERATE_WORKERS": "1"}
            if not hosts:
                migrate(variables)
            only = ["--only", name.partition("-")[0]]
            house = stack.enter_context(running(command(folder, *only), **variables))
            hosts[name] = Host(variables, house)
        for host in hosts.values():
            host.house.read_until("Stop")
        yield sandbox, hosts


def test_all_take_part_and_every_log_verifies(sandbox_and_hosts):
    sandbox, hosts = sandbox_and_hosts
    a, b = (hosts[name] for name in WEBS)
    for name, host in hosts.items():
        # A web host's lines are nobody else's to write, and it has no sweep.
        only = {"oracle_site.web", "keep_log"} if name in WEBS else {"work"}
        assert processes(host.house) == only
    sandbox.settings(latency=0.5)  # so that one worker alone could not be everywhere
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
        hosts["work-a"].manage("evict", session, "--reason", "a test")
        assert host.get(f"/api/verdict?session_id={session}").json()["regen"] is True

    # Each wrote what it judged itself, to its own log.
    counted = Counter(
        hosts["work-a"]
        .manage(
            "shell",
            "--no-imports",
            "-c",
            "from audit.models import LogEntry\n"
            "for one in LogEntry.objects.filter(entry__contains='tmm_crosscheck'): print(one.host)",
        )
        .split()
    )
    assert counted["web-a"] == counted["web-b"] == 1
    assert counted["work-a"] > 0
    assert counted["work-b"] > 0
    assert counted["work-a"] + counted["work-b"] == 8
    for host in hosts.values():
        assert host.manage("audit_verify").startswith("Sound: ")


def processes(house: House) -> set[str]:
    """What runs under its supervisor, by the word that says so."""
    words = {"oracle_site.web", "keep_log", "work"}
    return {word for one in house.alive() for word in one.cmdline()[1:4] if word in words}
