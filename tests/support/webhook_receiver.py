"""A webhook endpoint that records deliveries and responds with given statuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import stripe

from sandbox.settings import WEBHOOK_SECRET


@dataclass
class Receiver:
    url: str = ""
    statuses: list[int] = field(default_factory=list)  # of the next responses; then 200
    deliveries: list[tuple[bytes, str]] = field(default_factory=list)

    def events(self, secret: str = WEBHOOK_SECRET) -> list[stripe.Event]:
        """The delivered events, verified by Stripe's library."""
        return [
            stripe.Webhook.construct_event(payload, signature, secret)
            for payload, signature in self.deliveries
        ]

    def types(self) -> list[str]:
        return [event.type for event in self.events()]


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.deliveries.append((payload, self.headers["Stripe-Signature"]))
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/api/webhook"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
