"""Answers of other services with nesting that exceeds the recursion limit."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from verdicts.core.errors import ModelBusy
from verdicts.core.request_config import locked_request
from verdicts.generation.client import Endpoint, generate
from verdicts.http.plain_http import request


class DeepAnswer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"candidates":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), DeepAnswer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_deeply_nested_answer_of_the_model_is_retried(url):
    asked = locked_request(model="gemini-2.5-flash", tier="quick", query="Should I?")
    with pytest.raises(ModelBusy):
        generate(asked, Endpoint("key", url, deadline=10))


def test_a_deeply_nested_answer_of_a_site_is_no_object(url):
    assert request("POST", url, deadline=10, sent={}).body == {}
