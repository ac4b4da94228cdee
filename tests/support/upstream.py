"""An HTTP server on a Unix socket that records its requests."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple


class Request(NamedTuple):
    method: str
    target: str
    headers: Message
    body: bytes


@dataclass
class Upstream:
    """Gives every request the same response; fields may be changed while it runs."""

    socket: Path
    status: int = 200
    body: bytes = b""
    delay: float = 0.0
    dies: bool = False  # closes the connection after reading a request
    requests: list[Request] = field(default_factory=list)
    answered: int = 0


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Silent: nginx may close the connection before the response is sent."""


@contextmanager
def running_upstream(upstream: Upstream) -> Iterator[Upstream]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            upstream.requests.append(Request(self.command, self.path, self.headers, body))
            time.sleep(upstream.delay)
            if upstream.dies:
                self.close_connection = True
                return
            self.send_response(upstream.status)
            self.send_header("Content-Length", str(len(upstream.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(upstream.body)
            upstream.answered += 1

        do_GET = do_HEAD = do_POST = do_PUT = handle_any  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            pass

        def address_string(self) -> str:
            return "unix"

    server = _Server(str(upstream.socket), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield upstream
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        upstream.socket.unlink(missing_ok=True)
