"""One web process of `make serve`: granian's HTTP server around `oracle_site.wsgi`.

The listening socket is the supervisor's, shared by all web processes and passed
on to their successors, so that no connection is lost between two of them. On
SIGTERM the process accepts nothing more, answers what it has accepted, tells
keep-alive clients to come back elsewhere, and ends.

We run granian's worker, and not its own manager of workers: that one opens a
socket per worker, whose queue dies with it, and its workers skip what is to be
done at exit.

granian's threads are few. They take requests in and hand them on: what a cached
verdict could answer to one thread, everything else to Django's pool. Whatever is
slow there, regenerations and checkouts above all, is in no hit's way.

All that was asked for by the time the thread for hits has a turn shares one read
of the database, so the busier it is, the less a hit costs.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any, Final

from django.conf import settings
from granian import _granian, wsgi
from granian._futures import _new_cbscheduler
from granian.http import HTTP1Settings

from oracle_site.bodies import Bodies
from oracle_site.together import Together
from oracle_site.wsgi import application
from verdicts.fastlane import Answer, Fastlane, Question

logger = logging.getLogger(__name__)

# They have no types, or wrong ones.
granian: Any = _granian
granian_wsgi: Any = wsgi
callback_scheduler: Any = _new_cbscheduler

BACKLOG: Final = 1024
CONNECTIONS: Final = 1024  # open at once in one process, idle ones included; others wait
IDLE: Final = 600  # seconds after which one of granian's threads ends
RECEIVERS: Final = 4  # granian's threads for Python; with fewer its own gets less of a busy core
MOST_AT_ONCE: Final = 64  # hits of one read: the first has to wait for the last
# Seconds at the interpreter while others wait. A fifth of what Python allows: beside busy pages
# of Django's it gives hits a quarter more.
TURN: Final = 0.001
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
CLOSE: Final = ("Connection", "close")
SORRY: Final = "Something went wrong here. Please try again."

Asked = tuple[Any, Question]  # granian's protocol takes the answer


class Head:
    """WSGI's start_response: status and headers of an answer."""

    __slots__ = ("headers", "status")

    def __call__(self, status: str, headers: list[tuple[str, str]], _: object = None, /) -> Any:
        self.status = int(status[:3])
        self.headers = headers


class Web:
    def __init__(self, lane: Fastlane, *, threads: int) -> None:
        self._lane = lane
        self.hits = Together[Asked](self._answer_hits, most=MOST_AT_ONCE)
        self._pool = ThreadPoolExecutor(threads, "django")
        self._bodies = Bodies(RECEIVERS)
        self._draining = False

    def handle(self, protocol: Any, scope: dict[str, Any]) -> int:
        """Have it answered; granian calls it in one of its threads."""
        question = self._lane.question(scope)
        if question:
            self.hits.put((protocol, question))
        else:
            self._hand_to_django(protocol, scope)
        return 0  # the status is not known yet, and asked for by nobody

    def _answer_hits(self, asked: list[Asked]) -> None:
        try:
            answers = self._lane.answers([question for _, question in asked])
        except Exception:
            logger.exception("hits could not be answered")
            answers = [None] * len(asked)
        for (protocol, (_, _, scope)), answer in zip(asked, answers, strict=True):
            try:
                self._answer_hit(protocol, scope, answer)
            except Exception:
                logger.exception("a hit could not be answered")
                self._refuse(protocol, 500, SORRY)

    def _answer_hit(self, protocol: Any, scope: dict[str, Any], answer: Answer | None) -> None:
        if answer is None:
            self._pool.submit(self._by_django, protocol, COMMON | scope)
            return
        status, headers, body = answer
        if self._draining:
            headers.append(CLOSE)
        protocol.response_bytes(status, headers, body)

    def _hand_to_django(self, protocol: Any, scope: dict[str, Any]) -> None:
        environ = COMMON | scope
        if environ.get("CONTENT_LENGTH", "0") != "0" and not self._take_in(environ):
            self._refuse(protocol, 503, "Too many requests are being received. Please try again.")
            return
        self._pool.submit(self._by_django, protocol, environ)

    def _take_in(self, environ: dict[str, Any]) -> bool:
        """The body, while it is there: to granian a request is over when `handle` returns."""
        length = environ["CONTENT_LENGTH"]
        if not (length.isascii() and length.isdigit()):
            return True  # which is refused
        # One byte more than is allowed tells that it is too large.
        most = min(int(length), settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        body = self._bodies.read(environ["wsgi.input"], most)
        if body is None:
            return False
        environ["wsgi.input"] = BytesIO(body)
        return True

    def _by_django(self, protocol: Any, environ: dict[str, Any]) -> None:
        head = Head()
        try:
            body = self._lane.pass_on(environ, head)
            self._answer(protocol, head, body)
        except Exception:
            logger.exception("a request could not be answered")
            self._refuse(protocol, 500, SORRY)

    def _answer(self, protocol: Any, head: Head, body: Any) -> None:
        headers = [*head.headers, CLOSE] if self._draining else head.headers  # theirs may be shared
        if isinstance(body, list):
            whole = body[0] if len(body) == 1 else b"".join(body)
            protocol.response_bytes(head.status, headers, whole)
        else:
            protocol.response_iter(head.status, headers, granian_wsgi.ResponseIterWrap(body))

    def _refuse(self, protocol: Any, status: int, why: str) -> None:
        headers = [("Content-Type", "text/plain"), ("Retry-After", "1"), CLOSE]
        protocol.response_bytes(status, headers, why.encode())

    def serve(self, listening: int, *, ready: int | None) -> None:
        """Until SIGTERM or SIGINT, and until every request is answered."""
        wanted, over, stop = threading.Event(), threading.Event(), granian.WorkerSignal()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: wanted.set())
        stop.add_cb(over.set)
        loop = asyncio.new_event_loop()
        scheduler = callback_scheduler(loop, self.handle, impl_asyncio=True)
        self.hits.start()
        worker(listening).serve_mtr(scheduler, loop, stop)
        if ready is not None:
            os.write(ready, b"!")
            os.close(ready)
        wanted.wait()
        self._draining = True
        turn_a_deaf_ear(listening)
        time.sleep(DRAIN)
        stop.set()
        over.wait()
        self.hits.end()
        self._pool.shutdown()


def worker(listening: int) -> Any:
    no_tls: tuple[Any, ...] = (False, None, None, None, "tls1.3", None, [], False)
    return granian.WSGIWorker(
        1,
        (None, granian.SocketHolder(listening, False, BACKLOG)),
        None,
        1,
        512,
        RECEIVERS,
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
    parser.add_argument("--threads", type=int, required=True, help="for all but hits")
    parser.add_argument("--ready", type=int, help="descriptor that gets a byte")
    options = parser.parse_args()
    sys.setswitchinterval(TURN)
    web = Web(application, threads=options.threads)
    web.serve(options.listen, ready=options.ready)


if __name__ == "__main__":
    main()
