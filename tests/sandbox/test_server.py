"""The server itself: loopback, keep-alive, concurrency and malformed requests."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sandbox.capped_store import CappedStore
from sandbox.http_messages import Request
from sandbox.recorder import Recorder
from sandbox.running import running_sandbox


def test_unknown_paths_are_404_json_and_wrong_methods_405(web):
    missing = web.get("/nowhere")
    assert (missing.status_code, missing.json()) == (
        404,
        {"error": "There is nothing at /nowhere."},
    )
    wrong = web.delete("/mailbox")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET")
    assert web.head("/mailbox").content == b""


def test_a_keep_alive_connection_has_no_added_latency(web):
    web.get("/_control/health")
    began = time.perf_counter()
    for _ in range(50):
        web.get("/_control/health")
    # Two writes to a connection would cost 44 ms each time: 2.2 s.
    assert time.perf_counter() - began < 1


def test_a_hundred_concurrent_requests_are_answered(sandbox):
    sandbox.settings(latency=0.3)
    body = {"contents": [{"parts": [{"text": "Should I?"}]}]}
    limits = httpx.Limits(max_connections=100)
    with httpx.Client(base_url=sandbox.url, trust_env=False, limits=limits, timeout=20) as client:

        def call(_: int) -> int:
            path = "/v1beta/models/m:generateContent?key=k"
            return client.post(path, json=body).status_code

        began = time.perf_counter()
        with ThreadPoolExecutor(100) as pool:
            assert list(pool.map(call, range(100))) == [200] * 100
    assert time.perf_counter() - began < 10
    assert sandbox.health()["requests"] == 100


def test_it_listens_on_loopback_only(sandbox):
    assert sandbox.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"BREW /pot HTTP/1.1\r\n\r\n", b"501"),
        (b"GET /%ff/%00 HTTP/1.1\r\n\r\n", b"404"),
        (b"GET //[bad HTTP/1.1\r\n\r\n", b"404"),
    ],
)
def test_malformed_http_gets_a_json_response(sandbox, sent, status):
    host, port = sandbox.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as line:
        line.sendall(sent)
        answer = line.recv(65_536)
    assert answer.split()[1] == status
    assert b'"error"' in answer
    assert b"Traceback" not in answer


def test_it_stops_while_clients_keep_connections_open():
    with running_sandbox() as sandbox:
        client = httpx.Client(base_url=sandbox.url, trust_env=False)
        client.get("/_control/health")
        began = time.monotonic()
    assert time.monotonic() - began < 2
    client.close()


def test_stopping_interrupts_delayed_responses():
    with ThreadPoolExecutor(1) as pool:
        with running_sandbox() as sandbox:
            sandbox.fault("graph", "slow", seconds=600)
            url = f"{sandbox.url}/t/oauth2/v2.0/token"
            pool.submit(httpx.post, url, trust_env=False, timeout=30)
            while not sandbox.requests("graph"):
                time.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 5


def test_a_store_evicts_its_oldest_entries():
    store = CappedStore(max_items=3)
    for number in range(5):
        store.put(str(number), number)
    assert store.oldest_first() == [2, 3, 4]
    heavy = CappedStore(size=len, max_bytes=10)
    for letter in "abc":
        heavy.put(letter, letter * 4)
    assert heavy.oldest_first() == ["bbbb", "cccc"]


def test_recorded_requests_have_a_size_limit():
    recorder = Recorder(max_items=2)
    for number in range(3):
        recorder.add("gemini", Request("GET", f"/{number}", {}, b""))
    assert [entry.request.path for entry in recorder.entries()] == ["/1", "/2"]
    assert [entry.id for entry in recorder.entries()] == [2, 3]
