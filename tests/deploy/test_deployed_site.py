"""The site as deployed sells, is scraped, and keeps its data to itself."""

import stat
import time
from pathlib import Path

import pytest
import yaml

from tests.deploy.deployed_site import TOKEN, DeployedSite, deployed_site
from tests.deploy.units import ROOT

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


def buy(site: DeployedSite) -> str:
    order = {"tier": "quick", "query": "A ferry to the island?", "email": "a@customer.example"}
    made = site.http.post("/api/checkout", json=order).raise_for_status().json()
    site.sandbox.pay(made["session_id"], email="a@customer.example")
    deadline = time.monotonic() + 30
    while read(site, made["session_id"]).status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.1)
    return made["session_id"]


def read(site: DeployedSite, session: str):
    return site.http.get("/api/verdict", params={"session_id": session})


def last_logged(site: DeployedSite) -> str:
    time.sleep(0.1)
    return (site.nginx.logs / "access.log").read_text().splitlines()[-1]
