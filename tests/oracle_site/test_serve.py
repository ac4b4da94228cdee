"""`make serve`: pages, restarts without a failed request, and stops that lose nothing."""

import http.client
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from oracle_site.web import COMMON

from tests.live_site import LiveSite
from tests.oracle_site.supervise.house import ROOT, wait_for
from tests.served_site import SECRET_KEY, restart, served_site, start

TOKEN = {"Authorization": "Bearer sandbox-service-token"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def settings_file(folder) -> Path:
    path = folder / "oracle.env"
    path.write_text("SUPPORT_EMAIL=first@oracle.example\n")
    return path


@pytest.fixture(scope="module")
def release(folder) -> Path:
    """A link to the code, as it is changed from one version to the next."""
    link = folder / "current"
    link.symlink_to(ROOT)
    return link


@pytest.fixture(scope="module")
def site(folder, settings_file, release):
    more = {"ORACLE_WEB_PROCESSES": "2", "ORACLE_SERVICE_TOKENS": "sandbox-service-token"}
    where = ["--env-file", str(settings_file), "--directory", str(release)]
    with served_site(folder, *where, **more) as served:
        yield served


def copy_of_the_code(into: Path) -> Path:
    for name in ("audit", "drill", "oracle_site", "static", "templates", "verdicts"):
        shutil.copytree(ROOT / name, into / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", into)
    (into / ".venv").symlink_to(sys.prefix)
    return into


def web_processes(site: LiveSite) -> set[int]:
    return {one.pid for one in site.house.alive() if is_web(one)}


def is_web(process: psutil.Process) -> bool:
    with suppress(psutil.Error):  # it may just have ended
        return "oracle_site.web" in process.cmdline()[:3]
    return False


def delivered(site: LiveSite, email: str) -> str:
    session = site.buy("quick", "A ferry to the island?", email)
    wait_for(lambda: site.api(session).status_code == 200)
    return session


def test_an_order_goes_its_whole_way(site):
    session = delivered(site, "whole@example.com")
    site.wait_for_mail("whole@example.com")
    assert site.result(session).status_code == 200


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


def test_a_static_file_of_a_newer_version_is_found_by_an_older_process(site, folder):
    """Pages of the first process to be replaced name it while others are still old."""
    assert site.http.get("/static/new.0123456789ab.css").status_code == 404
    (folder / "static/new.0123456789ab.css").write_text("body {}")
    answer = site.http.get("/static/new.0123456789ab.css")
    assert (answer.status_code, answer.text) == (200, "body {}")
    assert "immutable" in answer.headers["Cache-Control"]


def test_whoever_sends_a_body_a_byte_a_minute_keeps_nobody_else_waiting(site):
    session = delivered(site, "patient@example.com")
    address = urlsplit(site.url)
    begun = b"POST /api/checkout HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
    with ExitStack() as lines:
        # More than there are threads in all processes together.
        for _ in range(80):
            line = socket.create_connection((address.hostname, address.port), timeout=30)
            lines.enter_context(line).sendall(begun)
        for _ in range(20):
            assert site.api(session).status_code == 200
            assert site.http.get("/").status_code == 200
        answers = [site.http.post("/api/checkout", json={}) for _ in range(4)]
        assert {one.status_code for one in answers} <= {400, 503}
    wait_for(lambda: site.http.post("/api/checkout", json={}).status_code == 400)


@pytest.mark.parametrize("path", ["/static/../oracle.env", "/static/%2e%2e/oracle.env"])
def test_nothing_beside_the_static_files_is_served(site, path):
    address = urlsplit(site.url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def test_the_threads_of_a_web_process_share_one_heap(site):
    """Or each would keep what it once needed: some tens of MB."""
    for pid in web_processes(site):
        assert psutil.Process(pid).environ()["MALLOC_ARENA_MAX"] == "1"


def test_metrics_are_the_same_whoever_answers(site):
    """Each of the two counts in memory; what they say is the sum."""
    session = delivered(site, "counted@example.com")
    before = hits(site)
    for _ in range(30):
        httpx.get(site.url + "/api/verdict", params={"session_id": session}, trust_env=False)
    wait_for(lambda: len(said := {hits(site) for _ in range(6)}) == 1 and min(said) >= before + 30)


def hits(site: LiveSite) -> int:
    """By a connection of its own, so that now one answers and now the other."""
    text = httpx.get(site.url + "/metrics", headers=TOKEN, trust_env=False).text
    return int(float(re.search(r"^oracle_cache_hits_total (\S+)", text, re.MULTILINE)[1]))


class Customers:
    """Readers and buyers who come again and again, on kept and on new connections."""

    def __init__(self, site: LiveSite, session: str) -> None:
        self.answers: Counter[object] = Counter()
        self._site, self._over = site, threading.Event()
        self._reads = [
            f"/api/verdict?session_id={session}",
            "/",
            f"/oracle/result?session_id={session}",
        ]

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(8)
        for number in range(6):
            self._pool.submit(self._read, self._reads[number % 3], keep=number < 3)
        for number in range(2):
            self._pool.submit(self._buy, number)
        return self

    def __exit__(self, *_) -> None:
        self._over.set()
        self._pool.shutdown()

    def _read(self, path: str, *, keep: bool) -> None:
        address, connection = urlsplit(self._site.url), None
        while not self._over.is_set():
            try:
                # Unlike httpx it never looks whether a connection is still open.
                if not (keep and connection):
                    connection = http.client.HTTPConnection(
                        address.hostname, address.port, timeout=40
                    )
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                self.answers[answer.status] += 1
                if answer.will_close or not keep:
                    connection.close()
                    connection = None
                if keep:  # so that it is found between two requests
                    self._over.wait(0.1)
            except Exception as error:  # noqa: BLE001 - whatever it is, a request failed
                self.answers[repr(error)] += 1
                connection = None
        if connection:
            connection.close()

    def _buy(self, number: int) -> None:
        while not self._over.is_set():
            order = {"tier": "quick", "query": "A ferry?", "email": f"b{number}@example.com"}
            try:
                answer = httpx.post(
                    self._site.url + "/api/checkout", json=order, timeout=40, trust_env=False
                )
                self.answers[answer.status_code] += 1
            except Exception as error:  # noqa: BLE001 - as above
                self.answers[repr(error)] += 1


def test_a_restart_fails_no_request_and_brings_new_code_and_settings(
    site, folder, settings_file, release
):
    newer = copy_of_the_code(folder / "newer")
    with (newer / "static/oracle.css").open("a") as sheet:
        sheet.write("/* newer */")
    session, before = delivered(site, "loyal@example.com"), web_processes(site)
    assert len(before) == 2
    with Customers(site, session) as customers:
        wait_for(lambda: customers.answers[200] > 50)
        settings_file.write_text('SUPPORT_EMAIL="second@oracle.example"\n')
        release.unlink()
        release.symlink_to(newer)
        done = restart(folder)
        answered = customers.answers[200]
        wait_for(lambda: not before & web_processes(site))
        wait_for(lambda: customers.answers[200] > answered + 50)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Restarting ...\nRestarted.\n", "")
    assert set(customers.answers) == {200, 201}
    assert len(web_processes(site)) == 2
    page = site.http.get("/").text
    assert "second@oracle.example" in page
    assert site.http.get(re.search(r"/static/oracle[^\"]+", page)[0]).text.endswith("/* newer */")
    # Who got a page of before still finds what it names.
    sheets = [f"/static/{one.name}" for one in (folder / "static").glob("oracle.*.css")]
    assert sorted("newer" in site.http.get(sheet).text for sheet in sheets) == [False, True]


def test_a_hangup_is_a_restart_that_waits_for_a_slow_reader(site):
    session, before = delivered(site, "slow@example.com"), web_processes(site)
    site.manage("evict", session, "--reason", "a test")
    site.sandbox.fault("gemini", "slow", seconds=12)
    with ThreadPoolExecutor(1) as reader:
        slow = reader.submit(httpx.get, f"{site.url}/api/verdict?session_id={session}", timeout=40)
        wait_for(lambda: len(site.sandbox.requests("gemini")) > 0)
        site.house.process.send_signal(signal.SIGHUP)
        site.house.read_until("Restarted.")
        assert len(web_processes(site) & before) >= 1  # the one that is still at it
        assert slow.result().json()["regen"] is True
    wait_for(lambda: not before & web_processes(site))


def test_a_restart_that_cannot_be_leaves_everything_as_it_is(site, folder, settings_file):
    before = set(psutil.Process(site.house.process.pid).children())
    good = settings_file.read_text()
    settings_file.write_text("ORACLE_PRICE_QUICK=free\n")
    done = restart(folder)
    settings_file.write_text(good)
    assert done.returncode == 1
    assert done.stdout.startswith("Restarting ...\nNot restarted: ORACLE_PRICE_QUICK must be")
    # Nobody new; one that the restart before has replaced may have ended meanwhile.
    assert set(psutil.Process(site.house.process.pid).children()) <= before
    assert site.http.get("/").status_code == 200


def test_a_second_start_is_refused_while_one_runs(site, folder):
    run = start(folder, site.variables)
    assert run.returncode == 1
    assert "Oracle is running already" in run.stderr


def test_a_killed_web_process_comes_back_and_the_other_serves_meanwhile(site):
    first, *_ = web_processes(site)
    psutil.Process(first).kill()
    assert {httpx.get(site.url, trust_env=False).status_code for _ in range(20)} == {200}
    wait_for(lambda: len(web_processes(site)) == 2)


def test_requests_do_not_carry_our_keys(site):
    assert SECRET_KEY not in str(COMMON)


def test_a_stop_answers_who_waits_counts_every_hit_and_leaves_nothing(tmp_path):
    with served_site(tmp_path, ORACLE_WEB_PROCESSES="1") as site:
        session = delivered(site, "last@example.com")
        again = delivered(site, "again@example.com")
        for _ in range(7):
            site.api(session)
        site.manage("evict", again, "--reason", "a test")
        site.sandbox.fault("gemini", "slow", seconds=4)
        with ThreadPoolExecutor(1) as reader:
            asked = len(site.sandbox.requests("gemini"))
            slow = reader.submit(
                httpx.get, f"{site.url}/api/verdict?session_id={again}", timeout=40
            )
            wait_for(lambda: len(site.sandbox.requests("gemini")) > asked)
            site.house.process.send_signal(signal.SIGTERM)
            site.house.read_until("Stopping")
            wait_for(lambda: refuses(site.url))  # at once, for a load balancer
            assert slow.result().json()["regen"] is True
        said, errors = site.house.process.communicate(timeout=60)
        assert (site.house.process.returncode, said) == (0, "Stopped.\n")
        assert session not in errors
        assert site.house.alive() == []
        count = "from verdicts.models import Order; print(Order.objects.get(session_id='{}').hits)"
        # One for each read, and one for the answer by which we learned that it was there.
        assert int(site.manage("shell", "--no-imports", "-c", count.format(session))) == 8


def refuses(url: str) -> bool:
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    time.sleep(0.05)
    return False
