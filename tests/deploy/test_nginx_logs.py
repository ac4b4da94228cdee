"""nginx logs no session id whatever fails, and operators still see what failed."""

import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tests.deploy.conftest import Site

RANDOM_PART = "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ"
SESSION = f"cs_live_{RANDOM_PART}"
DOUBLE = quote(SESSION.replace("_", "%5F"))
URLS = [
    f"/cache/{SESSION}",
    f"//cache//{SESSION}",
    f"/%63ache/{SESSION}",
    f"/Cache/{SESSION}",
    f"/cache/{DOUBLE}",
    f"/api/verdict?session_id={SESSION}",
    f"/api/verdict%3Fsession_id={SESSION}",
    f"/oracle/result?session_id={SESSION}",
    f"/{RANDOM_PART}",
    f"/metrics?session_id={SESSION}",
]


def visit_all(site: Site) -> None:
    referer = {"Referer": f"https://oracle.example/oracle/result?session_id={SESSION}"}
    for url in URLS:
        for method in ("GET", "POST"):
            site.http.request(method, site.nginx.url + url, headers=referer)


def logged(site: Site) -> str:
    """All logs, complete because nginx has stopped."""
    site.nginx.process.terminate()
    site.nginx.process.wait(10)
    return site.nginx.logged() + (site.nginx.logs.parent / "stderr.txt").read_text()


def assert_nothing_leaks(text: str) -> None:
    assert RANDOM_PART not in text
    assert RANDOM_PART[:8] not in text
    assert "session_id=" not in text


def test_no_session_id_is_logged_without_failures(site: Site):
    visit_all(site)
    text = logged(site)
    assert text.count('"GET /cache/(masked)" 200') >= 3
    assert '"POST /api/verdict" 200' in text
    assert_nothing_leaks(text)


def test_no_session_id_is_logged_while_all_sockets_are_missing(site: Site):
    """nginx logs a missing socket at level crit."""
    for upstream in (*site.web, site.reader):
        upstream.socket.unlink()
    visit_all(site)
    text = logged(site)
    assert '"GET /cache/(masked)" 503' in text
    assert_nothing_leaks(text)


def test_no_session_id_is_logged_while_all_connections_are_refused(site: Site):
    for upstream in (*site.web, site.reader):
        upstream.socket.unlink()
        with socket.socket(socket.AF_UNIX) as refusing:
            refusing.bind(str(upstream.socket))  # without listening
    visit_all(site)
    assert_nothing_leaks(logged(site))


def test_no_session_id_is_logged_while_upstreams_die_during_requests(site: Site):
    for upstream in (*site.web, site.reader):
        upstream.dies = True
    visit_all(site)
    assert_nothing_leaks(logged(site))


def test_no_session_id_is_logged_when_nginx_rejects_a_request(site: Site):
    site.http.post(f"/cache/{SESSION}", content=b"x" * 600 * 1024)
    site.http.get(f"/cache/{SESSION}", headers={"X-Long": "x" * 40_000})
    site.http.get(f"/cache/{SESSION}{'x' * 40_000}")
    for target in (f"/cache/{SESSION} bad", f"/cache/%00{SESSION}"):
        with site.nginx.connect() as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 400")
    with socket.create_connection(address(site)) as plain:  # without TLS
        plain.sendall(f"GET /cache/{SESSION} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert plain.recv(100).startswith(b"HTTP/1.1 400")
    text = logged(site)
    assert text.count('" 400 ') >= 3
    assert_nothing_leaks(text)


def test_no_session_id_is_logged_while_a_limit_is_exceeded(site: Site):
    def read_until_refused(_: int) -> bool:
        return any(site.http.get(f"/cache/{SESSION}").status_code == 429 for _ in range(1_000))

    with ThreadPoolExecutor(8) as readers:  # one after the other may be slower than the limit
        assert all(readers.map(read_until_refused, range(8)))
    text = logged(site)
    assert '"GET /cache/(masked)" 429' in text
    assert "limit=REJECTED" in text
    assert_nothing_leaks(text)


def test_operators_see_in_the_access_log_which_upstream_failed(site: Site):
    site.reader.socket.unlink()
    site.http.get(f"/api/verdict?session_id={SESSION}")
    site.web[0].dies = site.web[1].dies = True
    site.http.post("/api/webhook")
    logged(site)
    first, second = (site.nginx.logs / "access.log").read_text().splitlines()
    assert '"GET /api/verdict" 200' in first
    assert str(site.reader.socket) in first
    assert 'upstream_status="502' in first
    assert '"POST /api/webhook" 503' in second
    assert 'upstream_status="502' in second


@pytest.mark.parametrize("path", ["/", "/api/checkout", "/healthz", "/static/a.0a1b2c3d4e5f.css"])
def test_paths_without_an_id_are_logged_unchanged(site: Site, path):
    site.http.get(path, params={"q": "hidden"})
    text = logged(site)
    assert f'"GET {path}" 200' in text
    assert "hidden" not in text


def address(site: Site) -> tuple[str, int]:
    host, port = site.nginx.url.removeprefix("https://").split(":")
    return host, int(port)
