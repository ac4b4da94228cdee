"""Runs wrk on the client's core and parses its report."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.machine import CLIENT_CORE, is_installed, pinned_to_core

CONNECTIONS: Final = 64
PAGE_CONNECTIONS: Final = 16
REQUEST_TIMEOUT: Final = 30  # seconds per response
PATH: Final = "/api/verdict?session_id="
SCRIPT: Final = Path(__file__).with_name("random_sessions.lua")
_UNITS: Final = {"us": 0.001, "ms": 1.0, "s": 1_000.0, "m": 60_000.0, "h": 3_600_000.0}


class LoadFailed(Exception):
    """A request failed, or wrk's report could not be parsed."""


@dataclass(frozen=True)
class Load:
    """The throughput and latency of a server under load."""

    per_second: float
    median: float  # milliseconds
    p99: float  # milliseconds
    requests: int


def skip_reason() -> str:
    """Why no load can be generated; blank if wrk is installed."""
    return "" if is_installed("wrk") else "wrk is not installed"


def load(
    url: str, ids: Path, *, seconds: float, secure: bool = False, connections: int = CONNECTIONS
) -> Load:
    """Request random sessions of the file `ids` from `url`. Raises LoadFailed."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency"]
    command += ["--timeout", f"{REQUEST_TIMEOUT}s"]
    script_env = {"SESSION_IDS": str(ids), "PATH_PREFIX": PATH}
    script_env |= {"FORWARDED_HTTPS": "1"} if secure else {}
    with pinned_to_core(CLIENT_CORE):
        done = subprocess.run(
            [*command, "-s", str(SCRIPT), url],
            env={**os.environ, **script_env},
            capture_output=True,
            text=True,
            check=True,
        )
    return parse(done.stdout)


def load_page(url: str, *, seconds: float, connections: int = PAGE_CONNECTIONS) -> Load:
    """Request the landing page of `url` continuously. Raises LoadFailed."""
    with started_page_load(url, seconds=seconds, connections=connections) as wait:
        return wait()


@contextmanager
def started_page_load(
    url: str, *, seconds: float, connections: int = PAGE_CONNECTIONS
) -> Iterator[Callable[[], Load]]:
    """Like `load_page`, in the background; yields a function that waits for the result."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--latency"]
    command += ["--timeout", f"{REQUEST_TIMEOUT}s", "-H", "X-Forwarded-Proto: https"]
    with pinned_to_core(CLIENT_CORE):
        wrk = subprocess.Popen([*command, f"{url}/"], stdout=subprocess.PIPE, text=True)
    yield lambda: parse(wrk.communicate()[0])
    wrk.wait()


def parse(report: str) -> Load:
    """Parse the report of `wrk --latency`. Raises LoadFailed if it contains errors."""
    for failure in ("Non-2xx or 3xx responses", "Socket errors"):
        if found := re.search(rf"{failure}.*", report):
            raise LoadFailed(found[0])
    per_second = re.search(r"^Requests/sec:\s+([\d.]+)\s*$", report, re.MULTILINE)
    requests = re.search(r"^\s+(\d+) requests in ", report, re.MULTILINE)
    if per_second is None or requests is None:
        raise LoadFailed(f"unexpected output of wrk: {report}")
    return Load(
        float(per_second[1]), _percentile(report, 50), _percentile(report, 99), int(requests[1])
    )


def _percentile(report: str, which: int) -> float:
    found = re.search(rf"^\s+{which}%\s+([\d.]+)(us|ms|s|m|h)\s*$", report, re.MULTILINE)
    if found is None:
        raise LoadFailed(f"no {which}th percentile in the output of wrk: {report}")
    return float(found[1]) * _UNITS[found[2]]
