"""The HTTP server: loopback only, keep-alive, one thread per connection.

Headers and body are sent in one write: with two, Nagle's algorithm and delayed
acknowledgements cost 44 ms per request on a keep-alive connection.
"""

import logging
import socket
import sys
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Final

from sandbox.dispatch import answer
from sandbox.http_messages import Dribble, HangUp, Request, Response, as_json
from sandbox.routes import ROUTES
from sandbox.settings import Settings
from sandbox.state import State

HOST: Final = "127.0.0.1"
MAX_BODY_BYTES: Final = 16 * 1024 * 1024

log = logging.getLogger(__name__)


class SandboxServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024  # a drill opens hundreds of connections at once

    def __init__(self, port: int, settings: Settings) -> None:
        self._open: set[socket.socket] = set()
        self._open_lock = Lock()
        super().__init__((HOST, port), _Handler)
        self.url = f"http://{HOST}:{self.server_port}"
        self.state = State(self.url, settings)

    def opened(self, connection: socket.socket) -> None:
        with self._open_lock:
            self._open.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self._open_lock:
            self._open.discard(connection)

    def stop(self) -> None:
        """Stop the server and close every keep-alive connection."""
        self.state.close()
        self.shutdown()
        self.server_close()
        with self._open_lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client may disconnect at any time: an OSError is not an error of the sandbox.
        error = sys.exception()
        if not isinstance(error, OSError):
            log.error("a connection failed", exc_info=error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sandbox"
    disable_nagle_algorithm = True
    server: SandboxServer

    def setup(self) -> None:
        super().setup()
        self.server.opened(self.connection)

    def finish(self) -> None:
        self.server.closed(self.connection)
        super().finish()

    def _serve(self) -> None:
        body = self._read_body()
        if body is None:
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        reply = answer(self.server.state, ROUTES, request)
        match reply:
            case HangUp():
                self.close_connection = True
            case Dribble(pause):
                self._dribble(pause)
            case Response():
                self._send(reply)

    # http.server looks these methods up by name.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names

    def _read_body(self) -> bytes | None:
        """The body, or None after an error response has been sent."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers:
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "Send a Content-Length.")
        elif not (length.isascii() and length.isdigit()):
            self._refuse(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        elif int(length) > MAX_BODY_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too large.")
        else:
            return self.rfile.read(int(length))
        return None

    def _refuse(self, status: int, sentence: str) -> None:
        self.close_connection = True  # the unread body would be parsed as the next request
        self._send(as_json({"error": sentence}, status))

    def _send(self, response: Response) -> None:
        headers = {
            "Server": self.server_version,
            "Date": formatdate(usegmt=True),
            "Content-Type": response.content_type,
            "Content-Length": str(len(response.body)),
            "Cache-Control": "no-store",
            **response.headers,
        }
        if self.close_connection:
            headers["Connection"] = "close"
        body = b"" if self.command == "HEAD" else response.body
        self.wfile.write(_head(response.status, headers) + body)

    def _dribble(self, pause: float) -> None:
        headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        self.close_connection = True
        with suppress(OSError):  # the client timed out, as it should
            self.wfile.write(_head(200, headers))
            while not self.server.state.closing.wait(pause):
                self.wfile.write(b"1\r\n \r\n")

    def send_error(
        self,
        code: int,
        message: str | None = None,
        explain: str | None = None,
    ) -> None:
        """Errors that http.server finds itself, as JSON like every other error."""
        self.command = getattr(self, "command", None) or ""
        self._refuse(code, message or HTTPStatus(code).phrase)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's
        """Logs nothing: /_control/requests lists every request."""


def _head(status: int, headers: dict[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
