"""Malformed HTTP over raw sockets to a whole site: no 5xx, and it keeps working."""

import json
import socket
import time
from urllib.parse import urlsplit

from drill.sites.live_site import LiveSite
from drill.sites.served_site import served_site
from tests.support.odd_input import TOO_LARGE
from tests.support.stripe_objects import signature
from tests.verdicts.payments.test_webhook_api import BODY

# As forwarded by the proxy; the site must close the connection.
LAST = b"Connection: close\r\n"
HOST = b"Host: 127.0.0.1\r\nX-Forwarded-Proto: https\r\n" + LAST
POST = b"POST /api/checkout HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
ORDER = b'{"tier": "quick", "query": "Should I?"}'
GET = b"GET / HTTP/1.1\r\n" + HOST
END = b"\r\n"

REQUESTS = {
    "nothing": b"",
    "blank lines": b"\r\n\r\n\r\n",
    "one word": b"GET\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "an unknown version": b"GET / HTTP/9.9\r\n\r\n",
    "no method": b" / HTTP/1.1\r\n" + HOST + b"\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "NUL in the path": b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n",
    "NUL in the path, percent-encoded": b"GET /%00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes in the path": b"GET /\xff\xfe\x80 HTTP/1.1\r\n" + HOST + b"\r\n",
    "invalid UTF-8 in the path": b"GET /%ff%fe HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes in the query": b"GET /api/verdict?session_id=\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
    "an absolute URL (other host)": b"GET http://evil.example/admin/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "two slashes": b"GET //evil.example/admin/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "path traversal": b"GET /../../../etc/passwd HTTP/1.1\r\n" + HOST + b"\r\n",
    "static, traversal": b"GET /static/../manage.py HTTP/1.1\r\n" + HOST + b"\r\n",
    "static, encoded traversal": b"GET /static/%2e%2e/manage.py HTTP/1.1\r\n" + HOST + b"\r\n",
    "static, NUL": b"GET /static/%00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "static, long path": b"GET /static/" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "a star": b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    "a long path": b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "a long query": b"GET /?" + b"a=b&" * 15_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "no host": b"GET / HTTP/1.1\r\n" + LAST + END,
    "two hosts": GET + b"Host: evil.example\r\n\r\n",
    "an evil host": b"GET / HTTP/1.1\r\nHost: evil.example\r\n" + LAST + END,
    "bytes for a host": b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n" + LAST + END,
    "a header without a colon": GET + b"nonsense\r\n\r\n",
    "a header without a name": GET + b": nothing\r\n\r\n",
    "a header with a space in its name": GET + b"X Y: z\r\n\r\n",
    "NUL in a header": GET + b"Accept: \0\r\n\r\n",
    "bytes in a header": GET + b"Accept: \xff\xfe\x80\r\nCookie: \xff=\xff\r\n\r\n",
    "a folded header": GET + b"Accept: a\r\n b\r\n\tc\r\n\r\n",
    "a long header": GET + b"Accept: " + b"a" * 90_000 + b"\r\n\r\n",
    "very many headers": GET + b"".join(b"X-%d: 1\r\n" % n for n in range(500)) + b"\r\n",
    "half a request": b"GET / HTTP/1.1\r\nHo",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "a length that is not a number": POST + b"Content-Length: abc\r\n\r\n",
    "a length with a sign": POST + b"Content-Length: +5\r\n\r\n12345",
    "an enormous length": POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 39\r\n\r\n" + ORDER,
    "a length of a gigabyte": POST + b"Content-Length: 1073741824\r\n\r\n{",
    "a body shorter than its length": POST + b"Content-Length: 500\r\n\r\n" + ORDER[:-3],
    "a length and chunks": POST
    + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "invalid chunks": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    "an unknown transfer coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n",
    "a body too large": POST + b"Content-Length: %d\r\n\r\n" % TOO_LARGE + b" " * TOO_LARGE,
    "two types": POST + b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
    "a stale event": b"POST /api/webhook HTTP/1.1\r\n"
    + HOST
    + f"Stripe-Signature: {signature(BODY, at=time.time() - 3600)}\r\n".encode()
    + b"Content-Length: %d\r\n\r\n" % len(BODY)
    + BODY,
    "bytes in the signature": b"POST /api/webhook HTTP/1.1\r\n"
    + HOST
    + b"Stripe-Signature: t=1,v1=\xff\r\nContent-Length: 2\r\n\r\n{}",
    "bytes as a token": b"GET /metrics HTTP/1.1\r\n" + HOST + b"Authorization: Bearer \xff\r\n\r\n",
    "an unknown method": b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n",
    "a long method": b"A" * 9000 + b" / HTTP/1.1\r\n" + HOST + b"\r\n",
}
# Incomplete requests: the site waits for the rest until the client closes the connection.
UNFINISHED = {
    *("nothing", "blank lines", "half a request", "a length of a gigabyte"),
    *("a body shorter than its length", "another protocol", "an enormous length"),
}


def cached_reads(session: str) -> dict[str, bytes]:
    """Unusual requests for a cached verdict."""
    path = f"/api/verdict?session_id={session}".encode()
    get = b"GET " + path + b" HTTP/1.1\r\n"
    requests = {
        "an evil host": get + b"Host: evil.example\r\n" + LAST + END,
        "a long host": get + b"Host: " + b"a" * 60_000 + END + LAST + END,
        "no host": get + LAST + END,
        "bytes for a host": get + b"Host: \xff\xfe\r\n" + LAST + END,
        "a host and an evil one": get + HOST + b"Host: evil.example\r\n\r\n",
        "an absolute URL (other host)": b"GET http://evil.example"
        + path
        + b" HTTP/1.1\r\n"
        + HOST
        + END,
        "an old version": b"GET " + path + b" HTTP/1.0\r\n\r\n",
        "a fragment": b"GET " + path + b"#x HTTP/1.1\r\n" + HOST + END,
        "NUL after it": b"GET " + path + b"\0 HTTP/1.1\r\n" + HOST + END,
        "percent-encoded NUL after it": b"GET " + path + b"%00 HTTP/1.1\r\n" + HOST + END,
        "bytes after it": b"GET " + path + b"\xff HTTP/1.1\r\n" + HOST + END,
        "a percent-encoded path": b"GET /%61pi/verdict?session_id="
        + session.encode()
        + b" HTTP/1.1\r\n"
        + HOST
        + END,
        "a body": get + HOST + b"Content-Length: 2\r\n\r\n{}",
        "a body in chunks": get + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "invalid tags": get + HOST + b'If-None-Match: W/"\xff, ",,\xfe\r\n\r\n',
        "many tags": get + HOST + b"If-None-Match: " + b'"a",' * 15_000 + b"\r\n\r\n",
        "bytes in the cookie": get + HOST + b"Cookie: sessionid=\xff\r\n\r\n",
        "two pipelined requests": get + b"Host: 127.0.0.1\r\n\r\n" + get + HOST + END,
    }
    return {f"a cached read: {name}": raw for name, raw in requests.items()}


def send(site: LiveSite, raw: bytes, *, half: bool = False) -> bytes:
    """The response, read until the site closes the connection; `half`: shut down our side first."""
    parts = urlsplit(site.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as line:
        answer = b""
        try:
            line.sendall(raw)
            if half:
                line.shutdown(socket.SHUT_WR)
            while piece := line.recv(65536):
                answer += piece
        except ConnectionError:  # closed while we were still sending
            pass
    return answer


def status(answer: bytes) -> int:
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0


def is_failure(answer: bytes) -> bool:
    if any(one in answer for one in (b"Traceback", b"root:", b"execute_from_command_line")):
        return True
    return status(answer) >= 500 and not unsupported(answer)


def unsupported(answer: bytes) -> bool:
    """501 is correct for an unknown transfer coding (RFC 9112)."""
    return status(answer) == 501 and b"Unsupported transfer coding" in answer


def test_malformed_requests_break_nothing_store_nothing_and_log_no_traceback(tmp_path):
    """Directly to a web instance: gunicorn and Django without a proxy."""
    with served_site(tmp_path, BEHIND_PROXY="1") as site:
        session = site.buy("quick", "Should I?", "buyer@example.com")
        site.wait_for_mail("buyer@example.com")
        usual = site.api(session)
        before = site.manage("shell", "-v0", "-c", COUNT)
        answers = {}
        for name, raw in {**REQUESTS, **cached_reads(session)}.items():
            answers[name] = send(site, raw, half=name in UNFINISHED)
            assert site.http.get("/healthz").status_code == 200, name
        assert {name: one for name, one in answers.items() if is_failure(one)} == {}
        # The rest is answered: a site that only closes connections would pass everything above.
        assert {name for name, one in answers.items() if not status(one)} <= {*UNFINISHED, "HTTP/2"}
        for name in cached_reads(session):
            assert status(answers[name]) in (0, 200, 304, 400, 404, 431), name
            if name == "a cached read: no host":
                continue  # gunicorn then uses its own address
            if "host" in name and "absolute" not in name:
                assert status(answers[name]) in (400, 431), name
            assert b"evil" not in answers[name]
        assert answers["a cached read: two pipelined requests"].count(usual.content) == 2
        assert site.manage("shell", "-v0", "-c", COUNT) == before
        made = site.http.post("/api/checkout", json=json.loads(ORDER))
        assert made.status_code == 201
        site.runs.stop("oracle-web@1")
        output = site.runs.output.read_text()
        assert "Traceback" not in output
        assert session not in output


COUNT = "from verdicts.models import *; print(Order.objects.count(), StripeEvent.objects.count())"
