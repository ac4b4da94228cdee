"""deploy/upgrade on a whole site under load: new code and settings, and rollbacks."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from drill.sites.child_env import child_env
from tests.support.deployed_site import SERVICES, DeployedSite, deployed_site
from tests.support.systemctl import systemctl
from tests.support.systemd_analyze import ROOT

pytestmark = [pytest.mark.site, pytest.mark.once]
PARTS = ("audit", "drill", "oracle_site", "sandbox", "static", "templates", "verdicts")
HEALTHZ = "verdicts/monitoring/views.py"


@pytest.fixture(scope="module")
def deployment(nginx, tmp_path_factory) -> Iterator[SimpleNamespace]:
    folder = tmp_path_factory.mktemp("upgraded")
    first = release(folder, 1)
    with (
        deployed_site(folder, code=first) as site,
        systemctl(site.host, folder, SERVICES) as (program, restarted),
    ):
        yield SimpleNamespace(
            folder=folder, site=site, first=first, program=program, restarted=restarted
        )


def release(folder: Path, number: int) -> Path:
    path = folder / f"releases/{number}"
    for part in PARTS:
        shutil.copytree(ROOT / part, path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(ROOT / name, path)
    (path / ".venv").symlink_to(sys.prefix)
    return path


def upgrade(deployment: SimpleNamespace, *arguments: Path) -> subprocess.CompletedProcess:
    environment = {
        "ORACLE_HOME": str(deployment.folder),
        "ORACLE_ENV_FILE": str(deployment.site.host.settings),
        "ORACLE_WEB_SOCKETS": str(deployment.site.host.web_socket(1).parent),
        "ORACLE_USER": "",
        "ORACLE_READY_TIMEOUT": "15",
        "SYSTEMCTL": str(deployment.program),
    }
    deployment.restarted.clear()
    return subprocess.run(
        [ROOT / "deploy/upgrade", *arguments],
        env=child_env(**environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def current(deployment: SimpleNamespace) -> Path:
    return (deployment.folder / "current").readlink()


def health(site: DeployedSite, number: int) -> str:
    """The /healthz response of one web instance."""
    transport = httpx.HTTPTransport(uds=str(site.host.web_socket(number)))
    with httpx.Client(transport=transport, timeout=30) as http:
        return http.get("http://localhost/healthz").text


@contextmanager
def load(site: DeployedSite) -> Iterator[SimpleNamespace]:
    """Readers and buyers through nginx; counts their requests and collects failures."""
    found = SimpleNamespace(requests=0, failures=[])
    done = threading.Event()
    order = {"tier": "quick", "query": "A ferry?", "email": "a@customer.example"}

    def visit() -> None:
        with httpx.Client(base_url=site.nginx.url, verify=site.nginx.tls, trust_env=False) as http:
            http.timeout = 40
            while not done.is_set():
                try:
                    responses = (http.get("/"), http.post("/api/checkout", json=order))
                    found.failures.extend(str(one) for one in responses if one.is_error)
                    found.requests += len(responses)
                except httpx.HTTPError as error:
                    found.failures.append(repr(error))
                time.sleep(0.02)

    visitors = [threading.Thread(target=visit) for _ in range(3)]
    for each in visitors:
        each.start()
    try:
        yield found
    finally:
        done.set()
        for each in visitors:
            each.join()


def test_new_code_and_settings_take_effect_without_a_failed_request(deployment):
    second = release(deployment.folder, 2)
    views = second / HEALTHZ
    views.write_text(views.read_text().replace('"alive": True', '"alive": True, "release": 2'))
    deployment.site.host.set(
        **{**deployment.site.settings, "ORACLE_MODEL": "gemini-2.5-flash-lite"}
    )
    with load(deployment.site) as found:
        time.sleep(1)
        run = upgrade(deployment, second)
        time.sleep(1)
    assert run.returncode == 0, run.stdout + run.stderr
    assert found.failures == []
    assert found.requests > 100
    assert deployment.restarted == [
        *("oracle-generate", "oracle-worker"),
        *("oracle-web@1", "oracle-web@2", "oracle-reader"),
    ]
    assert current(deployment) == second
    for number in (1, 2):
        assert '"release": 2' in health(deployment.site, number)
    created = deployment.site.http.post(
        "/api/checkout", json={"tier": "quick", "query": "A ferry?"}
    ).json()
    deployment.site.sandbox.pay(created["session_id"], email="a@customer.example")
    deadline = time.monotonic() + 30
    requests = ""
    while "gemini-2.5-flash-lite" not in requests and time.monotonic() < deadline:
        requests = str(deployment.site.sandbox.requests())
        time.sleep(0.2)
    assert "gemini-2.5-flash-lite" in requests


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("verdicts/pages/landing.py", "import nothing_of_this_name\n"),
        ("oracle_site/rsgi.py", "import nothing_of_this_name\n"),
        ("oracle_site/settings.py", "raise ImproperlyConfigured('no')\n"),
    ],
)
def test_a_release_that_does_not_import_changes_nothing(deployment, tmp_path, file, text):
    broken = release(tmp_path, 3)
    (broken / file).write_text((broken / file).read_text() + text)
    before = current(deployment)
    run = upgrade(deployment, broken)
    assert run.returncode == 1
    assert "nothing was changed" in run.stderr
    assert deployment.restarted == []
    assert current(deployment) == before


def test_invalid_settings_change_nothing(deployment):
    deployment.site.host.set(**{**deployment.site.settings, "ORACLE_PRICE_QUICK": "free"})
    run = upgrade(deployment)
    deployment.site.host.set(**deployment.site.settings)
    assert run.returncode == 1
    assert "ORACLE_PRICE_QUICK must be a whole number" in run.stderr
    assert deployment.restarted == []


def test_an_instance_that_is_not_ready_causes_a_rollback(deployment, tmp_path):
    before = current(deployment)
    broken = release(tmp_path, 4)
    views = broken / HEALTHZ
    views.write_text(views.read_text() + "\n\ndef readyz(request):\n    raise RuntimeError\n")
    with load(deployment.site) as found:
        run = upgrade(deployment, broken)
    assert run.returncode == 1
    assert f"oracle-web@1.service was not ready within 15 s: rolling back to {before}" in run.stderr
    assert current(deployment) == before
    assert "oracle-web@2" not in deployment.restarted
    assert deployment.restarted[-1] == "oracle-web@1"
    assert found.failures == []
    assert found.requests > 100
    assert deployment.site.http.get("/readyz").status_code == 200


def test_a_directory_without_a_release_is_rejected(deployment, tmp_path):
    run = upgrade(deployment, tmp_path)
    assert run.returncode == 1
    assert "is not a release" in run.stderr
    assert deployment.restarted == []
