"""The commands of docs/BACKUP.md, in their order: back up, lose the database, restore it."""

import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from drill.sites.child_env import child_env
from drill.sites.processes import wait_for
from drill.sites.served_site import SERVICES, migrate, production, serving
from drill.sites.site import free_port
from sandbox.client import SandboxClient
from sandbox.running import running_sandbox
from tests.support.documented import ROOT, blocks

PAGE = (ROOT / "docs/BACKUP.md").read_text()
# Not run here: they need PostgreSQL's programs.
SKIPPED = ("pg_dump ", "pg_restore ")


class Operator:
    """Runs the commands of the page, in their order, in the site's folder."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self._folder = folder
        self._variables = variables
        self._left = [
            line.removeprefix("$ ")
            for block in blocks(PAGE)
            for line in block.splitlines()
            if line.startswith("$ ") and not line.startswith(tuple(f"$ {one}" for one in SKIPPED))
        ]

    def runs(self, beginning: str) -> subprocess.CompletedProcess:
        """Run the next command of the page, which must begin like this."""
        line = self._left.pop(0)
        assert line.startswith(beginning), line
        if line.startswith("sqlite3 ") and not shutil.which("sqlite3"):
            return self._without_sqlite3(*shlex.split(line)[1:])
        command = line.replace("python manage.py", f"{sys.executable} {ROOT}/manage.py")
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self._folder,
            env=child_env(**self._variables),
            capture_output=True,
            text=True,
            check=False,
        )

    def has_run_everything(self) -> bool:
        return not self._left

    def _without_sqlite3(self, path: str, statement: str) -> subprocess.CompletedProcess:
        with closing(sqlite3.connect(self._folder / path)) as connection:
            connection.execute(statement.replace("INTO '", f"INTO '{self._folder}/"))
        return subprocess.CompletedProcess([], 0, "", "")


def buy(url: str, sandbox: SandboxClient, email: str) -> str:
    order = {"tier": "quick", "query": "A ferry to the island?", "email": email}
    made = httpx.post(f"{url}/api/checkout", json=order, timeout=40, trust_env=False)
    session = made.raise_for_status().json()["session_id"]
    sandbox.pay(session, email=email)
    wait_for(lambda: len(sandbox.messages(to=email)) == 1)
    return session


def buy_minutes_ago(url: str, sandbox: SandboxClient, email: str) -> str:
    """Old enough for `reconcile` to check it; imported by the read, without a webhook."""
    session = sandbox.create_session(
        amount_subtotal=200,
        amount_total=200,
        currency="cad",
        created=int(time.time()) - 300,
        metadata={"tier": "quick", "query_0": "A ferry to the mainland?"},
        customer_details={"email": email},
        payment_status="paid",
        status="complete",
    )["id"]
    wait_for(lambda: get_result(url, session).status_code == 200)
    wait_for(lambda: len(sandbox.messages(to=email)) == 1)
    return session


def get_result(url: str, session: str) -> httpx.Response:
    return httpx.get(f"{url}/api/verdict?session_id={session}", timeout=40, trust_env=False)


def read(url: str, session: str) -> dict:
    return get_result(url, session).raise_for_status().json()


@pytest.fixture
def site(tmp_path) -> Iterator[tuple[dict[str, str], SandboxClient]]:
    (tmp_path / "data").mkdir()
    site_url = f"http://127.0.0.1:{free_port()}"
    with running_sandbox(webhook_url=f"{site_url}/api/webhook") as sandbox:
        url = f"sqlite:///{tmp_path}/data/oracle.sqlite3"
        variables = production(tmp_path, sandbox, site_url=site_url, url=url) | {
            "ORACLE_LOG_PATH": str(tmp_path / "data/oracle_log.jsonl"),
            "ORACLE_LOG_NAME": "restored",
        }
        migrate(variables)
        yield variables, sandbox


def test_a_lost_database_is_restored_without_losing_an_order(site, tmp_path):
    variables, sandbox = site
    url, operator = variables["SITE_URL"], Operator(tmp_path, variables)
    log, kept = tmp_path / "data/oracle_log.jsonl", tmp_path / "kept.jsonl"
    port = urlsplit(url).port
    with serving(tmp_path, variables, *SERVICES, port=port):
        buy(url, sandbox, "before@example.com")
        assert operator.runs("mkdir -p backup && cp -p").returncode == 0
        assert operator.runs("sqlite3 ").returncode == 0
        lost = buy_minutes_ago(url, sandbox, "after@example.com")

    for file in (tmp_path / "data").glob("oracle.sqlite3*"):
        file.unlink()
    assert operator.runs("cp -p backup/oracle.sqlite3 data/").returncode == 0

    # If the log had been lost as well: the copy in the backup is sound.
    shutil.move(log, kept)
    shutil.copy(tmp_path / "backup/oracle_log.jsonl", log)
    assert operator.runs("python manage.py audit_verify --repair").stdout.endswith(
        "Sound: 1 line in 1 file, one chain.\n"
    )
    shutil.move(kept, log)

    # The log survived, and is ahead of the database.
    unknown = operator.runs("python manage.py audit_verify")
    assert unknown.returncode == 1
    assert "line 2: not in the database" in unknown.stderr
    listed = operator.runs("python manage.py reconcile --since 2d")
    assert listed.returncode == 1
    assert "its verdict is in the log, but there is no order" in listed.stdout

    with serving(tmp_path, variables, *SERVICES, port=port):
        repaired = operator.runs("python manage.py reconcile --since 2d --apply")
        assert (repaired.returncode, repaired.stdout.count("the email is not sent again")) == (0, 1)
        wait_for(lambda: read(url, lost)["divergence"]["status"] == "checked")
        assert read(url, lost)["divergence"]["emailed_verdict"] is not None
        for customer in ("before@example.com", "after@example.com"):
            assert len(sandbox.messages(to=customer)) == 1

        assert operator.runs("mv data/oracle_log.jsonl data/oracle_log.jsonl.1").returncode == 0
        assert operator.runs("mkdir -p archive && mv").returncode == 0
        buy(url, sandbox, "later@example.com")
        sound = operator.runs("python manage.py audit_verify --older-elsewhere")
        assert sound.returncode == 0
        assert sound.stdout.endswith("Sound: 1 line in 1 file, one chain.\n")
    assert operator.has_run_everything()
