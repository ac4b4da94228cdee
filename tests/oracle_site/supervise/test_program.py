"""Pauses and readiness."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from oracle_site.supervise import Backoff, Program
from tests.oracle_site.test_run import free_port


def test_pauses_double_up_to_the_longest():
    backoff, pauses = Backoff(), [None]
    for _ in range(7):
        pauses.append(backoff.after(pauses[-1], lived=1))
    assert pauses[1:] == [0.5, 1, 2, 4, 8, 10, 10]


def test_a_long_life_is_forgiven():
    assert Backoff().after(10, lived=30) == 0.5


def ready(question: object) -> bool:
    return Program("a", ["a"], ready=question).is_ready()


def test_without_a_question_a_program_is_ready():
    assert ready(None)


def test_any_question_will_do():
    assert ready(lambda: True)
    assert not ready(lambda: False)


def test_a_question_that_fails_is_no():
    assert not ready(lambda: 1 / 0)


def test_a_port_is_ready_when_it_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ready(port)
    assert not ready(port)


@pytest.mark.parametrize(("status", "expected"), [(200, True), (302, True), (503, False)])
def test_an_address_is_ready_when_it_gives_a_page(status, expected, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    asked = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert ready(f"http://127.0.0.1:{server.server_port}/healthz?deep=1") is expected
        thread.join()
    assert asked == ["/healthz?deep=1"]


def test_an_address_without_a_server_is_not_ready():
    assert not ready(f"http://127.0.0.1:{free_port()}/")
