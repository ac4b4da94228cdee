"""Runs a sandbox in this process, for tests: `with running_sandbox() as sandbox:`."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from sandbox.client import SandboxClient
from sandbox.server import SandboxServer
from sandbox.settings import WEBHOOK_SECRET, Settings


@contextmanager
def running_sandbox(
    *,
    port: int = 0,
    webhook_url: str | None = None,
    webhook_secret: str = WEBHOOK_SECRET,
    latency: float = 0.0,
    variance: float = 0.0,
) -> Iterator[SandboxClient]:
    """A sandbox on a free port, stopped when the block ends; yields a control client."""
    settings = Settings(
        webhook_url=webhook_url,
        webhook_secret=webhook_secret,
        latency=latency,
        variance=variance,
    )
    server = SandboxServer(port, settings)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield SandboxClient(server.url)
    finally:
        server.stop()
        thread.join()
