"""One web process of `make serve`: granian's HTTP server around `oracle_site.wsgi`.

The listening socket is the supervisor's, shared by all web processes and passed
on to their successors, so that no connection is lost between two of them. On
SIGTERM the process accepts nothing more, answers what it has accepted, tells
keep-alive clients to come back elsewhere, and ends.

We run granian's worker, and not its own manager of workers: that one opens a
socket per worker, whose queue dies with it, and its workers skip what is to be
done at exit.
"""

import argparse
import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from granian import _granian, wsgi
from granian._futures import _new_cbscheduler
from granian.http import HTTP1Settings

from oracle_site.wsgi import application

# They have no types, or wrong ones.
granian: Any = _granian
granian_wsgi: Any = wsgi
callback_scheduler: Any = _new_cbscheduler

BACKLOG: Final = 1024
CONNECTIONS: Final = 1024  # open at once in one process, idle ones included; others wait
IDLE: Final = 600  # seconds after which a thread ends, and with it its database connection
# For clients between two requests of one connection: by then each was told to close it.
DRAIN: Final = 1.0

# What requests have in common. Not the environment variables: they hold our keys.
COMMON: Final = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "Oracle",
    "wsgi.errors": sys.stderr,
    "wsgi.input_terminated": True,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}


class Head:
    """WSGI's start_response: status and headers of an answer."""

    __slots__ = ("headers", "status")

    def __call__(self, status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        self.status = int(status[:3])
        self.headers = headers


class Web:
    def __init__(self, answer: Callable[..., Iterable[bytes]]) -> None:
        self._application = answer
        self._draining = False

    def handle(self, protocol: Any, scope: dict[str, Any]) -> int:
        """Answer one request; granian calls it in one of its threads."""
        head = Head()
        body = self._application(COMMON | scope, head)
        if self._draining:
            head.headers = [*head.headers, ("Connection", "close")]  # theirs may be shared
        if isinstance(body, list):
            whole = body[0] if len(body) == 1 else b"".join(body)
            protocol.response_bytes(head.status, head.headers, whole)
        else:
            protocol.response_iter(head.status, head.headers, granian_wsgi.ResponseIterWrap(body))
        return head.status

    def serve(self, listening: int, *, threads: int, ready: int | None) -> None:
        """Until SIGTERM or SIGINT, and until every request is answered."""
        wanted, over, stop = threading.Event(), threading.Event(), granian.WorkerSignal()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: wanted.set())
        stop.add_cb(over.set)
        loop = asyncio.new_event_loop()
        scheduler = callback_scheduler(loop, self.handle, impl_asyncio=True)
        worker(listening, threads).serve_mtr(scheduler, loop, stop)
        if ready is not None:
            os.write(ready, b"!")
            os.close(ready)
        wanted.wait()
        self._draining = True
        turn_a_deaf_ear(listening)
        time.sleep(DRAIN)
        stop.set()
        over.wait()


def worker(listening: int, threads: int) -> Any:
    no_tls: tuple[Any, ...] = (False, None, None, None, "tls1.3", None, [], False)
    return granian.WSGIWorker(
        1,
        (None, granian.SocketHolder(listening, False, BACKLOG)),
        None,
        1,
        512,
        threads,
        IDLE,
        CONNECTIONS,
        "1",
        HTTP1Settings(),
        None,
        None,
        *no_tls,
        (None, None),
    )


def turn_a_deaf_ear(listening: int) -> None:
    """From here on granian accepts at a socket that nobody knows; the real one is others'."""
    with socket.create_server(("127.0.0.1", 0)) as unknown:
        unknown.setblocking(False)
        os.dup2(unknown.fileno(), listening)


def main() -> None:
    parser = argparse.ArgumentParser(prog="oracle_site.web", description=__doc__)
    parser.add_argument("--listen", type=int, required=True, help="descriptor of the socket")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--ready", type=int, help="descriptor that gets a byte")
    options = parser.parse_args()
    Web(application).serve(options.listen, threads=options.threads, ready=options.ready)


if __name__ == "__main__":
    main()
