"""Latency of a cache miss: until the response, the comparison's log entry and the notice.

A real site (web, two worker clusters) against the sandbox, whose model has a fixed
latency. Misses are sequential, so that none waits for another. The limits are those
of the requirement document.
"""

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, print_report
from drill.sites.live_site import LiveSite, live_site

MISSES = 40
MODEL_SECONDS = 0.2
RETRY_SECONDS = 60
DESCRIPTION = f"""
Latency of a cache miss until the response, until the comparison is logged and until the customer
is notified: a real site with its workers on SQLite, a model latency of {MODEL_SECONDS:g} s,
sequential misses. The limits are those of the requirement document.
""".strip()


@dataclass
class Latencies:
    """Milliseconds, one entry per miss."""

    response: list[float]  # without the model's latency
    logged: list[float]
    notified: list[float]


def measure_miss(site: LiveSite, number: int, latencies: Latencies) -> None:
    query, email = f"Idea number {number}", f"miss{number}@example.com"
    site.sandbox.fault("gemini", "verdict", label="GREEN", match=query)
    session_id = site.buy("full", query, email)
    site.wait_for_mail(email)
    evict(site, session_id)
    site.sandbox.fault("gemini", "verdict", label="RED", match=query)
    started, started_at = time.perf_counter(), time.time()
    response = site.api(session_id).raise_for_status().json()
    elapsed = (time.perf_counter() - started) * 1000
    assert response["regen"]
    latencies.response.append(elapsed - model_latency(site, session_id))
    latencies.logged.append((logged_at(site, session_id) - started_at) * 1000)
    _, notice = site.wait_for_mail(email, 2)
    latencies.notified.append((received_at(notice) - started_at) * 1000)


def evict(site: LiveSite, session_id: str) -> None:
    """Directly in the database: starting a management command would take too long."""
    with database(site) as rows, rows:
        rows.execute("DELETE FROM verdicts_cachedverdict WHERE session_id = ?", [session_id])


def model_latency(site: LiveSite, session_id: str) -> float:
    sql = "SELECT duration_ms FROM audit_modelcall WHERE session_id = ? AND kind = 'regen'"
    with database(site) as rows:
        return float(rows.execute(sql, [session_id]).fetchone()[0])


def database(site: LiveSite) -> "closing[sqlite3.Connection]":
    path = site.variables["DATABASE_URL"].removeprefix("sqlite:///")
    return closing(sqlite3.connect(path, timeout=20))


def logged_at(site: LiveSite, session_id: str) -> float:
    """When the comparison's line appeared in the log."""
    while True:
        now = time.time()
        lines = site.log.read_text().splitlines()
        if any(
            session_id in line and json.loads(line)["event"] == "regen_divergence_check"
            for line in lines
        ):
            return now
        time.sleep(0.005)


def received_at(message: dict[str, str]) -> float:
    return datetime.fromisoformat(message["received_at"]).timestamp()


def retry_delay(site: LiveSite) -> float:
    """Seconds between a failed delivery of a notice and the successful retry."""
    query, email = "The retried idea", "retry@example.com"
    site.sandbox.fault("gemini", "verdict", label="GREEN", match=query)
    session_id = site.buy("quick", query, email)
    site.wait_for_mail(email)
    evict(site, session_id)
    site.sandbox.fault("gemini", "verdict", label="RED", match=query)
    site.sandbox.fault("graph", "unavailable", match="retry@example.com")
    site.api(session_id)
    failed_at = time.time()
    with ProgressBar("retry of a failed notice") as bar:
        while len(site.sandbox.messages(to=email)) < 2:
            bar.update(int(time.time() - failed_at), RETRY_SECONDS)
            time.sleep(0.2)
    _, notice = site.sandbox.messages(to=email)
    attempts = [
        datetime.fromisoformat(one["at"]).timestamp()
        for one in site.sandbox.requests("graph")
        if one["fault"] == "unavailable"
    ]
    return received_at(notice) - attempts[-1]


def measure(site: LiveSite) -> tuple[Latencies, float]:
    site.sandbox.settings(latency=MODEL_SECONDS)
    for number in range(4):  # warm-up: the first call imports the model's SDK
        measure_miss(site, -1 - number, Latencies([], [], []))
    latencies = Latencies([], [], [])
    with ProgressBar("misses") as bar:
        for number in range(MISSES):
            bar.update(number, MISSES)
            measure_miss(site, number, latencies)
    return latencies, retry_delay(site)


def run() -> Section:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, live_site(Path(name)) as site:
        latencies, delay = measure(site)
    results = (
        ("miss to response, without the model", latencies.response, 25.0),
        ("miss to the comparison's log entry", latencies.logged, 1_000.0),
        ("miss to the customer's notice", latencies.notified, 2_000.0),
    )
    rows = [
        [title, f"{statistics.median(took):.0f} ms", f"{max(took):.0f} ms"]
        for title, took, _ in results
    ]
    rows.append(["failed notice, retried after", f"{delay:.1f} s", ""])
    limits = [
        Limit(f"{title}, median", statistics.median(took), maximum, unit=" ms")
        for title, took, maximum in results
    ]
    limits.append(
        Limit("deviation of the retry from 60 s", abs(delay - RETRY_SECONDS), 2.0, unit=" s")
    )
    table = Table([f"{MISSES} misses with a divergent verdict", "median", "slowest"], rows)
    return Section("Cache miss", DESCRIPTION, [table], limits)


if __name__ == "__main__":
    sys.exit(print_report(run()))
