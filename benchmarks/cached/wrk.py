"""wrk: starts it on its own core, reads what it says."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.machine import CLIENT, is_installed, on_core

CONNECTIONS: Final = 64
PAGE_CONNECTIONS: Final = 16
REQUEST_TIMEOUT: Final = 30  # seconds for one answer
PATH: Final = "/api/verdict?session_id="
SCRIPT: Final = Path(__file__).with_name("ask.lua")
_UNITS: Final = {"us": 0.001, "ms": 1.0, "s": 1_000.0, "m": 60_000.0, "h": 3_600_000.0}


class Failed(Exception):
    """Not every request was answered, or not with a 200."""


@dataclass(frozen=True)
class Load:
    """What a server bore: requests a second, and milliseconds."""

    per_second: float
    median: float
    p99: float
    requests: int


def missing() -> str:
    """Why nothing can be put under load here; blank where it can."""
    return "" if is_installed("wrk") else "wrk is not installed"


def load(
    url: str, ids: Path, *, seconds: float, secure: bool = False, connections: int = CONNECTIONS
) -> Load:
    """Ask `url` for sessions of the file `ids` at random. Raises Failed."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency"]
    command += ["--timeout", f"{REQUEST_TIMEOUT}s"]
    asked = {"ASK_IDS": str(ids), "ASK_PATH": PATH} | ({"ASK_SECURE": "1"} if secure else {})
    with on_core(CLIENT):
        done = subprocess.run(
            [*command, "-s", str(SCRIPT), url],
            env={**os.environ, **asked},
            capture_output=True,
            text=True,
            check=True,
        )
    return parse(done.stdout)


def load_page(url: str, *, seconds: float, connections: int = PAGE_CONNECTIONS) -> Load:
    """Ask `url` for its landing page again and again. Raises Failed."""
    with started_page_load(url, seconds=seconds, connections=connections) as ended:
        return ended()


@contextmanager
def started_page_load(
    url: str, *, seconds: float, connections: int = PAGE_CONNECTIONS
) -> Iterator[Callable[[], Load]]:
    """The same in the background; what is yielded waits for its end."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency"]
    command += ["--timeout", f"{REQUEST_TIMEOUT}s", "-H", "X-Forwarded-Proto: https"]
    with on_core(CLIENT):
        wrk = subprocess.Popen([*command, f"{url}/"], stdout=subprocess.PIPE, text=True)
    yield lambda: parse(wrk.communicate()[0])
    wrk.wait()


def parse(said: str) -> Load:
    """wrk's own report, with --latency. Raises Failed where it tells of failures."""
    for failure in ("Non-2xx or 3xx responses", "Socket errors"):
        if found := re.search(rf"{failure}.*", said):
            raise Failed(found[0])
    per_second = re.search(r"^Requests/sec:\s+([\d.]+)\s*$", said, re.MULTILINE)
    requests = re.search(r"^\s+(\d+) requests in ", said, re.MULTILINE)
    if per_second is None or requests is None:
        raise Failed(f"wrk said something else: {said}")
    return Load(
        float(per_second[1]), _percentile(said, 50), _percentile(said, 99), int(requests[1])
    )


def _percentile(said: str, which: int) -> float:
    found = re.search(rf"^\s+{which}%\s+([\d.]+)(us|ms|s|m|h)\s*$", said, re.MULTILINE)
    if found is None:
        raise Failed(f"wrk told no {which}th percentile: {said}")
    return float(found[1]) * _UNITS[found[2]]
