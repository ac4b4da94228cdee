"""The deployed site end to end: sales, metrics, crashes, restarts, static files, permissions."""

import http.client
import re
import socket
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import yaml

from drill.sites.processes import wait_for
from tests.support.deployed_site import TOKEN, DeployedSite, deployed_site
from tests.support.systemd_analyze import ROOT

pytestmark = [pytest.mark.site, pytest.mark.once]


@pytest.fixture(scope="module")
def site(nginx, tmp_path_factory):
    with deployed_site(tmp_path_factory.mktemp("deployed")) as started:
        yield started


def test_the_smoke_test_passes_through_nginx(site: DeployedSite):
    run = site.manage("smoke_test", "--site", site.nginx.plain_url)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_cached_verdict_comes_from_the_reader(site: DeployedSite):
    session = buy(site)
    assert read(site, session).status_code == 200
    assert last_log_line(site).count("reader.sock") == 1
    assert "web-" not in last_log_line(site)


def test_a_killed_reader_fails_no_request_and_is_restarted(site: DeployedSite):
    session = buy(site)
    for process in site.host.processes("oracle-reader"):
        process.kill()
    deadline = time.monotonic() + 20
    assert read(site, session).status_code == 200
    while "web-" in last_log_line(site) and time.monotonic() < deadline:
        assert read(site, session).status_code == 200
    assert "web-" not in last_log_line(site)


def test_the_scrape_job_gets_the_metrics(site: DeployedSite):
    job = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    (scrape,) = job["scrape_configs"]
    assert scrape["scheme"] == "https"
    scraped = site.http.get(scrape["metrics_path"], headers={"Authorization": f"Bearer {TOKEN}"})
    assert scraped.status_code == 200
    assert "oracle_escalated" in scraped.text
    assert site.http.get(scrape["metrics_path"]).status_code == 401


def test_no_data_file_is_readable_by_other_users(site: DeployedSite):
    buy(site)
    found = [path for path in site.folder.joinpath("data").rglob("*") if path.is_file()]
    written = [path for path in found if "static" not in path.parts]
    assert {path.name for path in written} >= {"oracle.sqlite3", "oracle_log.jsonl"}
    assert [path for path in written if access_of_others(path)] == []


def access_of_others(path: Path) -> int:
    return path.stat().st_mode & (stat.S_IRWXO | stat.S_IRWXG)


# --- Crashes and restarts -------------------------------------------------------------------------


def test_a_killed_web_worker_is_replaced_without_a_failed_request(site):
    main, worker = site.host.processes("oracle-web@1")
    worker.kill()
    for _ in range(20):
        assert site.http.get("/").status_code == 200
    wait_for(lambda: len(site.host.processes("oracle-web@1")) == 2)
    assert site.host.processes("oracle-web@1")[0] == main  # gunicorn itself has replaced it
    assert request_instance(site, 1, "/healthz").status_code == 200


def test_a_killed_generation_worker_is_replaced_and_fulfils_orders(site):
    killed = site.host.processes("oracle-generate")
    for process in killed:
        process.kill()
    session = buy(site)  # fulfilled after systemd has started another
    assert read(site, session).status_code == 200
    assert not any(process.is_running() for process in killed)


@pytest.mark.parametrize("stop", ["restart", "stop"])
def test_a_restart_finishes_a_regeneration_in_progress(site, stop):
    session = buy(site)
    assert site.manage("evict", session, "--reason", "a test").returncode == 0
    before = len(site.sandbox.requests("gemini"))
    site.sandbox.fault("gemini", "slow", seconds=4)
    with ThreadPoolExecutor(1) as reader:
        path = f"/api/verdict?session_id={session}"
        slow = reader.submit(request_instance, site, 1, path)
        wait_for(lambda: len(site.sandbox.requests("gemini")) > before)
        getattr(site.host, stop)("oracle-web@1")
        assert slow.result().json()["regen"] is True
    site.host.start("oracle-web@1")


def test_a_reader_that_stops_flushes_its_hit_counts(site):
    session = buy(site)
    for _ in range(7):
        assert read(site, session).status_code == 200
    assert "web-" not in last_log_line(site)
    site.host.restart("oracle-reader")  # before its next regular flush
    # One more for the last read of `buy`.
    wait_for(lambda: hits(site, session) == 8)


def test_metrics_are_the_same_on_every_instance(site):
    session = buy(site)
    for number in (1, 2):
        for _ in range(5):
            assert request_instance(site, number, f"/api/verdict?session_id={session}").is_success
    wait_for(lambda: hits_in_metrics(site, 1) == hits_in_metrics(site, 2) >= 10)


# --- Static files ---------------------------------------------------------------------------------


def test_static_files_are_hashed_compressed_and_kept_for_ever(site):
    page = site.http.get("/")
    (sheet,) = re.findall(r'href="(/static/oracle\.[0-9a-f]{12}\.css)"', page.text)
    response = site.http.get(sheet)
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert "Access-Control-Allow-Origin" not in response.headers
    assert response.text.startswith((ROOT / "static/oracle.css").read_text()[:40])
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src")


def test_the_static_files_of_the_console_exist(site):
    page = site.http.get("/admin/login/")
    for url in re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text):
        response = site.http.get(url)
        assert (url, response.status_code) == (url, 200)
        assert "immutable" in response.headers["Cache-Control"]


def test_an_older_process_serves_static_files_of_a_newer_version(site):
    """During an upgrade, pages of the restarted instance refer to them."""
    assert site.http.get("/static/new.0123456789ab.css").status_code == 404
    (site.folder / "data/static/new.0123456789ab.css").write_text("body {}")
    response = site.http.get("/static/new.0123456789ab.css")
    assert (response.status_code, response.text) == (200, "body {}")
    assert "immutable" in response.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/static/../oracle.sqlite3", "/static/%2e%2e/oracle.sqlite3"])
def test_nothing_outside_the_static_files_is_served(site, path):
    with closing(UnixConnection(site.host.web_socket(1))) as connection:
        connection.request("GET", path, headers={"X-Forwarded-Proto": "https"})
        assert connection.getresponse().status == 404


# --- Helpers --------------------------------------------------------------------------------------


class UnixConnection(http.client.HTTPConnection):
    """Sends paths unchanged; httpx would normalize them."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def request_instance(site: DeployedSite, number: int, path: str, **headers: str) -> httpx.Response:
    transport = httpx.HTTPTransport(uds=str(site.host.web_socket(number)))
    with httpx.Client(transport=transport, timeout=60) as direct:
        proxied = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1"}
        return direct.get(f"http://localhost{path}", headers={**proxied, **headers})


def hits(site: DeployedSite, session: str) -> int:
    count = "from verdicts.models import Order; print(Order.objects.get(session_id='{}').hits)"
    return int(site.manage("shell", "--no-imports", "-c", count.format(session)).stdout)


def hits_in_metrics(site: DeployedSite, number: int) -> int:
    metrics = request_instance(site, number, "/metrics", Authorization=f"Bearer {TOKEN}").text
    return int(float(re.search(r"^oracle_cache_hits_total (\S+)", metrics, re.MULTILINE)[1]))


def buy(site: DeployedSite) -> str:
    order = {"tier": "quick", "query": "A ferry to the island?", "email": "a@customer.example"}
    created = site.http.post("/api/checkout", json=order).raise_for_status().json()
    site.sandbox.pay(created["session_id"], email="a@customer.example")
    deadline = time.monotonic() + 30
    while read(site, created["session_id"]).status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.1)
    return created["session_id"]


def read(site: DeployedSite, session: str) -> httpx.Response:
    site.http.cookies.clear()  # requests with a cookie go to Django
    return site.http.get("/api/verdict", params={"session_id": session})


def last_log_line(site: DeployedSite) -> str:
    time.sleep(0.1)
    return (site.nginx.logs / "access.log").read_text().splitlines()[-1]
