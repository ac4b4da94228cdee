"""`make run`, as somebody who types it meets it."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH")}
    return {**kept, "DATABASE_URL": f"sqlite:///{tmp_path}/run.sqlite3"}


def test_the_site_answers_on_a_fresh_database(environment):
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "oracle_site.run", "--port", str(port)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert f"http://127.0.0.1:{port}/" in process.stdout.readline()
        page = ""
        for _ in range(100):
            with suppress(OSError):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    page = answer.read().decode()
                break
            time.sleep(0.1)
        assert "CA$5.00" in page
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)


@pytest.mark.parametrize("port", ["0x50", "99999"])
def test_a_port_that_is_none_is_refused(environment, port):
    run = start(environment, port)
    assert run.returncode != 0
    assert port in run.stderr


def test_a_taken_port_ends_with_one_sentence(environment):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = start(environment, str(taken.getsockname()[1]))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert "choose another with `make run PORT=8001`" in run.stderr


def start(environment: dict[str, str], port: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "oracle_site.run", "--port", port],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
