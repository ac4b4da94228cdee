"""deploy/nginx in a real nginx: headers, slow clients, rate limits, error pages."""

import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.deploy.conftest import Site
from tests.support.nginx import CLIENT_ADDRESS

VERDICT = "/api/verdict?session_id=cs_test_abcdefgh12345678"

# --- Headers --------------------------------------------------------------------------------------


def test_forwarded_headers_are_overwritten(site: Site):
    forged = {
        "X-Forwarded-For": "203.0.113.7",
        "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": "evil.example",
        "Forwarded": "for=203.0.113.7",
        "X_Forwarded_For": "203.0.113.7",
        "Proxy": "http://evil.example",
    }
    site.reader.status = 200
    site.http.get("/", headers=forged)
    site.http.get(VERDICT, headers=forged)
    (to_web,) = [one for web in site.web for one in web.requests]
    for request in (to_web, site.reader.requests[0]):
        assert request.headers.get_all("X-Forwarded-For") == ["127.0.0.1"]
        assert request.headers.get_all("X-Forwarded-Proto") == ["https"]
        for name in ("X-Forwarded-Host", "Forwarded", "X_Forwarded_For", "Proxy"):
            assert name not in request.headers


def test_the_service_token_reaches_the_metrics(site: Site):
    site.http.get("/metrics", headers={"Authorization": "Bearer token"})
    (request,) = [one for web in site.web for one in web.requests]
    assert request.headers["Authorization"] == "Bearer token"


@pytest.mark.parametrize(
    "path", ["/metrics", "/readyz", "/./metrics", "/%6Detrics", "/x/../readyz"]
)
def test_operators_urls_are_closed_to_the_public(site: Site, path):
    for address, status in {"203.0.113.7": 403, "2001:db8::7": 403, "10.1.2.3": 200}.items():
        answer = site.http.get(site.nginx.url + path, headers={CLIENT_ADDRESS: address})
        assert (address, answer.status_code) == (address, status)


# --- Slow clients, limits -------------------------------------------------------------------------


def test_a_request_reaches_django_only_when_it_is_complete(site: Site):
    with site.nginx.connect() as client:
        client.sendall(
            b"POST /api/webhook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n"
        )
        for _ in range(9):
            client.sendall(b"x")
            time.sleep(0.05)
        assert site.requests_to_web() == []
        client.sendall(b"x")
        assert client.recv(1024).startswith(b"HTTP/1.1 200")
    assert site.requests_to_web() == ["POST /api/webhook"]


def test_a_response_is_buffered_for_a_client_that_never_reads(site: Site):
    """Django's thread is free again once nginx has the whole response."""
    for web in site.web:
        web.body = b"x" * 4_000_000
    with site.nginx.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        deadline = time.monotonic() + 5
        while not any(web.answered for web in site.web) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sum(web.answered for web in site.web) == 1


def test_a_body_above_the_limit_does_not_reach_django(site: Site):
    assert site.http.post("/api/webhook", content=b"x" * 512 * 1024).status_code == 200
    answer = site.http.post("/api/webhook", content=b"x" * (512 * 1024 + 1))
    assert answer.status_code == 413
    assert answer.json()["type"] == "too-large"
    assert len(site.requests_to_web()) == 1


def test_orders_beyond_the_burst_get_429_with_retry_after(site: Site):
    answers = [site.http.post("/api/checkout", json={}) for _ in range(25)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert [answer.status_code for answer in answers[:21]] == [200] * 21
    assert len(refused) in (3, 4)  # the limit allows one more every two seconds
    assert refused[0].headers["Retry-After"] == "60"
    assert refused[0].headers["Content-Type"] == "application/problem+json"
    assert refused[0].json()["type"] == "too-many"
    assert site.http.post("/").status_code == 429  # the form has the same limit
    other = {CLIENT_ADDRESS: "203.0.113.7"}
    assert site.http.post("/api/checkout", headers=other).status_code == 200
    for path in ("/", "/healthz", VERDICT):
        assert site.http.get(path).status_code == 200
    assert [site.http.post("/api/webhook").status_code for _ in range(30)] == [200] * 30


def test_a_flood_of_logins_gets_429(site: Site):
    answers = [site.http.post("/admin/login/").status_code for _ in range(15)]
    assert answers[:11] == [200] * 11
    assert answers[-1] == 429
    assert site.http.get("/admin/login/").status_code == 200


def test_one_address_cannot_flood_the_site(site: Site):
    def burst(_: int) -> list[int]:
        with httpx.Client(base_url=site.nginx.url, verify=site.nginx.tls, trust_env=False) as http:
            return [http.get("/healthz").status_code for _ in range(300)]

    begin = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        statuses = [status for each in pool.map(burst, range(4)) for status in each]
    allowed = 401 + 100 * (time.monotonic() - begin)
    assert 400 <= statuses.count(200) <= allowed + 5
    assert set(statuses) <= {200, 429}


def test_a_site_that_is_down_answers_503_as_json_or_html(site: Site):
    for web in site.web:
        web.socket.unlink()
    api, page = site.http.get(VERDICT), site.http.get("/")
    assert (api.status_code, page.status_code) == (503, 503)
    assert api.headers["Retry-After"] == page.headers["Retry-After"] == "10"
    assert api.json()["type"] == "try-later"
    assert api.json()["status"] == 503
    assert "<h1>Please try again later</h1>" in page.text


def test_old_versions_of_tls_are_refused(site: Site):
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    host, port = site.nginx.url.removeprefix("https://").split(":")
    with (
        socket.create_connection((host, int(port))) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        old.wrap_socket(plain, server_hostname=host)
