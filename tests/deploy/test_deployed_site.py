"""The site as deployed sells, is scraped, and keeps its data to itself."""

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


def test_a_cached_verdict_is_answered_by_the_reader(site: DeployedSite):
    session = buy(site)
    assert read(site, session).status_code == 200
    assert last_logged(site).count("reader.sock") == 1
    assert "web-" not in last_logged(site)


def test_a_killed_reader_costs_no_answer_and_is_replaced(site: DeployedSite):
    session = buy(site)
    for process in site.host.processes("oracle-reader"):
        process.kill()
    deadline = time.monotonic() + 20
    assert read(site, session).status_code == 200
    while "web-" in last_logged(site) and time.monotonic() < deadline:
        assert read(site, session).status_code == 200
    assert "web-" not in last_logged(site)


def test_prometheus_scrapes_what_its_job_says(site: DeployedSite):
    job = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    (scrape,) = job["scrape_configs"]
    assert scrape["scheme"] == "https"
    scraped = site.http.get(scrape["metrics_path"], headers={"Authorization": f"Bearer {TOKEN}"})
    assert scraped.status_code == 200
    assert "oracle_escalated" in scraped.text
    assert site.http.get(scrape["metrics_path"]).status_code == 401


def test_no_file_of_the_data_folder_is_readable_for_others(site: DeployedSite):
    buy(site)
    found = [path for path in site.folder.joinpath("data").rglob("*") if path.is_file()]
    written = [path for path in found if "static" not in path.parts]
    assert {path.name for path in written} >= {"oracle.sqlite3", "oracle_log.jsonl"}
    assert [path for path in written if others(path)] == []


def others(path: Path) -> int:
    return path.stat().st_mode & (stat.S_IRWXO | stat.S_IRWXG)


# --- Processes that die or are restarted ----------------------------------------------------------


def test_a_killed_web_worker_is_replaced_and_the_other_instance_answers_meanwhile(site):
    main, worker = site.host.processes("oracle-web@1")
    worker.kill()
    for _ in range(20):
        assert site.http.get("/").status_code == 200
    wait_for(lambda: len(site.host.processes("oracle-web@1")) == 2)
    assert site.host.processes("oracle-web@1")[0] == main  # gunicorn itself has replaced it
    assert ask_instance(site, 1, "/healthz").status_code == 200


def test_orders_of_a_killed_generation_worker_are_taken_over(site):
    killed = site.host.processes("oracle-generate")
    for process in killed:
        process.kill()
    session = buy(site)  # judged, once systemd has started another
    assert read(site, session).status_code == 200
    assert not any(process.is_running() for process in killed)


@pytest.mark.parametrize("stop", ["restart", "stop"])
def test_a_restart_answers_the_reader_who_waits_for_the_model(site, stop):
    session = buy(site)
    assert site.manage("evict", session, "--reason", "a test").returncode == 0
    asked = len(site.sandbox.requests("gemini"))
    site.sandbox.fault("gemini", "slow", seconds=4)
    with ThreadPoolExecutor(1) as reader:
        path = f"/api/verdict?session_id={session}"
        slow = reader.submit(ask_instance, site, 1, path)
        wait_for(lambda: len(site.sandbox.requests("gemini")) > asked)
        getattr(site.host, stop)("oracle-web@1")
        assert slow.result().json()["regen"] is True
    site.host.start("oracle-web@1")


def test_every_hit_of_a_reader_that_is_stopped_is_counted(site):
    session = buy(site)
    for _ in range(7):
        assert read(site, session).status_code == 200
    assert "web-" not in last_logged(site)
    site.host.restart("oracle-reader")  # before it would have written them anyway
    # One more for the answer by which `buy` learned that the verdict was there.
    wait_for(lambda: hits(site, session) == 8)


def test_metrics_are_the_same_whichever_instance_answers(site):
    session = buy(site)
    for number in (1, 2):
        for _ in range(5):
            assert ask_instance(site, number, f"/api/verdict?session_id={session}").is_success
    wait_for(lambda: counted(site, 1) == counted(site, 2) >= 10)


# --- Static files ---------------------------------------------------------------------------------


def test_static_files_are_hashed_compressed_and_kept_for_ever(site):
    page = site.http.get("/")
    (sheet,) = re.findall(r'href="(/static/oracle\.[0-9a-f]{12}\.css)"', page.text)
    answer = site.http.get(sheet)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.text.startswith((ROOT / "static/oracle.css").read_text()[:40])
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src")


def test_the_consoles_static_files_are_there(site):
    page = site.http.get("/admin/login/")
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text):
        answer = site.http.get(address)
        assert (address, answer.status_code) == (address, 200)
        assert "immutable" in answer.headers["Cache-Control"]


def test_a_static_file_of_a_newer_version_is_found_by_an_older_process(site):
    """Pages of the first instance to be restarted name it while the other is still old."""
    assert site.http.get("/static/new.0123456789ab.css").status_code == 404
    (site.folder / "data/static/new.0123456789ab.css").write_text("body {}")
    answer = site.http.get("/static/new.0123456789ab.css")
    assert (answer.status_code, answer.text) == (200, "body {}")
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/static/../oracle.sqlite3", "/static/%2e%2e/oracle.sqlite3"])
def test_nothing_beside_the_static_files_is_served(site, path):
    with closing(UnixConnection(site.host.web_socket(1))) as connection:
        connection.request("GET", path, headers={"X-Forwarded-Proto": "https"})
        assert connection.getresponse().status == 404


# --- Asking ---------------------------------------------------------------------------------------


class UnixConnection(http.client.HTTPConnection):
    """Sends a path as it is, which httpx would normalize."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def ask_instance(site: DeployedSite, number: int, path: str, **headers: str) -> httpx.Response:
    transport = httpx.HTTPTransport(uds=str(site.host.web_socket(number)))
    with httpx.Client(transport=transport, timeout=60) as direct:
        proxied = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1"}
        return direct.get(f"http://localhost{path}", headers={**proxied, **headers})


def hits(site: DeployedSite, session: str) -> int:
    count = "from verdicts.models import Order; print(Order.objects.get(session_id='{}').hits)"
    return int(site.manage("shell", "--no-imports", "-c", count.format(session)).stdout)


def counted(site: DeployedSite, number: int) -> int:
    metrics = ask_instance(site, number, "/metrics", Authorization=f"Bearer {TOKEN}").text
    return int(float(re.search(r"^oracle_cache_hits_total (\S+)", metrics, re.MULTILINE)[1]))


def buy(site: DeployedSite) -> str:
    order = {"tier": "quick", "query": "A ferry to the island?", "email": "a@customer.example"}
    made = site.http.post("/api/checkout", json=order).raise_for_status().json()
    site.sandbox.pay(made["session_id"], email="a@customer.example")
    deadline = time.monotonic() + 30
    while read(site, made["session_id"]).status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.1)
    return made["session_id"]


def read(site: DeployedSite, session: str) -> httpx.Response:
    site.http.cookies.clear()  # a request with a cookie is Django's to answer
    return site.http.get("/api/verdict", params={"session_id": session})


def last_logged(site: DeployedSite) -> str:
    time.sleep(0.1)
    return (site.nginx.logs / "access.log").read_text().splitlines()[-1]
