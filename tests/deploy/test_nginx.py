"""deploy/nginx in a real nginx: which upstream gets a request."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.deploy.conftest import Site
from tests.support.nginx import write_configuration

VERDICT = "/api/verdict?session_id=cs_test_abcdefgh12345678"


def test_the_configuration_passes_nginx_t_without_a_warning(nginx, tmp_path):
    path = write_configuration(
        tmp_path, web=[tmp_path / "w.sock"], reader=tmp_path / "r.sock", https=8443, http=8080
    )
    run = subprocess.run(
        [nginx, "-t", "-p", tmp_path, "-c", path], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "[warn]" not in run.stderr


def test_plain_http_is_redirected_to_the_configured_name(site: Site):
    answer = httpx.get(f"{site.nginx.http_url}/oracle/result?x=1", headers={"Host": "evil.example"})
    assert answer.status_code == 301
    assert answer.headers["Location"] == "https://oracle.example/oracle/result?x=1"


# --- Reader and Django ----------------------------------------------------------------------------


def test_a_cached_verdict_comes_from_the_reader_alone(site: Site):
    site.reader.status, site.reader.body = 200, b"hit"
    assert site.http.get(VERDICT).content == b"hit"
    assert [one.target for one in site.reader.requests] == [VERDICT]
    assert site.requests_to_web() == []


@pytest.mark.parametrize("status", [404, 500, 502, 503, 504])
def test_misses_and_errors_of_the_reader_go_to_django(site: Site, status):
    site.reader.status = status
    site.web[0].status = site.web[1].status = 202
    answer = site.http.get(VERDICT)
    assert (answer.status_code, answer.content) == (202, b"django")
    assert site.requests_to_web() == [f"GET {VERDICT}"]


def test_errors_of_django_reach_the_client_unchanged(site: Site):
    for status in (404, 422, 429, 503):
        for web in site.web:
            web.status = status
        answer = site.http.get(VERDICT)
        assert (answer.status_code, answer.content) == (status, b"django")


def test_a_reader_that_refuses_connections_fails_no_request(site: Site):
    site.reader.socket.unlink()
    assert site.http.get(VERDICT).content == b"django"


def test_a_reader_that_dies_during_a_request_fails_no_request(site: Site):
    site.reader.dies = True
    assert site.http.get(VERDICT).content == b"django"


@pytest.mark.slow
def test_a_reader_that_hangs_is_skipped_after_a_few_timeouts(site: Site):
    site.reader.delay = 30
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: site.http.get(VERDICT).content, range(8)))
    assert answers == [b"django"] * 8
    begin = time.monotonic()
    assert site.http.get(VERDICT).content == b"django"
    assert time.monotonic() - begin < 1


def test_connections_to_the_reader_are_kept_alive(site: Site):
    site.reader.status = 200
    for _ in range(5):
        site.http.get(VERDICT)
    assert {one.headers["Connection"] for one in site.reader.requests} == {None}


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT"])
def test_other_methods_go_to_django(site: Site, method):
    assert site.http.request(method, VERDICT).status_code == 200
    assert site.requests_to_web() == [f"{method} {VERDICT}"]
    assert site.reader.requests == []


# --- Two instances --------------------------------------------------------------------------------


@pytest.mark.parametrize("down", [0, 1])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_instance_that_refuses_connections_is_skipped(site: Site, down, method):
    site.web[down].socket.unlink()
    answers = [site.http.request(method, "/api/webhook") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 6


def test_a_post_that_may_have_been_processed_is_not_sent_twice(site: Site):
    for web in site.web:
        web.dies = True
    answer = site.http.post("/api/webhook", content=b"{}")
    assert answer.status_code == 503
    assert site.requests_to_web() == ["POST /api/webhook"]


def test_a_get_without_response_goes_to_the_other_instance(site: Site):
    site.web[0].dies = True
    assert [site.http.get("/").status_code for _ in range(4)] == [200] * 4


@pytest.mark.slow
def test_an_instance_that_hangs_gets_no_new_requests(site: Site):
    site.web[0].delay = 2
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):  # one to each instance; the first one hangs
            pool.submit(site.http.get, "/")
            time.sleep(0.2)
        begin = time.monotonic()
        assert [site.http.get("/").status_code for _ in range(10)] == [200] * 10
        assert time.monotonic() - begin < 1
    assert len(site.web[0].requests) == 1
