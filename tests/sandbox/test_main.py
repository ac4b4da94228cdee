"""`python -m sandbox` as a separate process."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.client import SandboxClient


@contextmanager
def process(*arguments: str) -> Iterator[tuple[subprocess.Popen, SandboxClient]]:
    command = [sys.executable, "-m", "sandbox", "--port", "0", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        try:
            words = running.stdout.readline().split()
            yield running, SandboxClient(next(w for w in words if w.startswith("http")).rstrip("/"))
        finally:
            running.kill()


def test_settings_come_from_the_command_line_and_a_signal_stops_it():
    options = ["--webhook-url", "http://127.0.0.1:8000/api/webhook", "--webhook-secret", "whsec_x"]
    with process(*options, "--latency", "0.1", "--variance", "0.2") as (running, sandbox):
        assert sandbox.health()["settings"] == {
            "webhook_url": "http://127.0.0.1:8000/api/webhook",
            "webhook_secret": "whsec_x",
            "latency": 0.1,
            "rate": 0.0,
            "variance": 0.2,
            "token_seconds": 3_599,
        }
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=5) == 0


def test_a_port_in_use_and_an_invalid_setting_exit_with_a_message():
    with process() as (_, sandbox):
        port = sandbox.url.rpartition(":")[2]
        for wrong in (["--port", port], ["--port", "0", "--variance", "7"]):
            command = [sys.executable, "-m", "sandbox", *wrong]
            told = subprocess.run(command, capture_output=True, text=True, check=False)
            assert told.returncode == 1
            assert "Traceback" not in told.stderr
