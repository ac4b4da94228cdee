"""What a cache miss costs the reader, and how soon the record and the customer know of it.

A real site (web, two worker clusters) against the sandbox, whose model takes a
moment; misses one after another, so that none waits for another. The figures
are the document's own limits, so here they are in seconds.
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

from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, tell
from drill.sites.live_site import LiveSite, live_site

MISSES = 40
MODEL_SECONDS = 0.2
RETRY_SECONDS = 60
ABOUT = f"""
What a cache miss costs the reader, and how soon the record and the customer know of it: a real
site with its workers on SQLite, {MODEL_SECONDS:g} s for the model, misses one after another. The
limits are the document's own.
""".strip()


@dataclass
class Taken:
    """Milliseconds, one of each a miss."""

    answer: list[float]  # without the model's time
    logged: list[float]
    notified: list[float]


def one(site: LiveSite, number: int, taken: Taken) -> None:
    query, email = f"Idea number {number}", f"miss{number}@example.com"
    site.sandbox.fault("gemini", "verdict", label="GREEN", match=query)
    session_id = site.buy("full", query, email)
    site.wait_for_mail(email)
    forget(site, session_id)
    site.sandbox.fault("gemini", "verdict", label="RED", match=query)
    started, clock = time.perf_counter(), time.time()
    answer = site.api(session_id).raise_for_status().json()
    took = (time.perf_counter() - started) * 1000
    assert answer["regen"]
    taken.answer.append(took - model_time(site, session_id))
    taken.logged.append((compared_at(site, session_id) - clock) * 1000)
    _, notice = site.wait_for_mail(email, 2)
    taken.notified.append((received(notice) - clock) * 1000)


def forget(site: LiveSite, session_id: str) -> None:
    """As an eviction does, without starting a command for it."""
    with database(site) as rows, rows:
        rows.execute("DELETE FROM verdicts_cachedverdict WHERE session_id = ?", [session_id])


def model_time(site: LiveSite, session_id: str) -> float:
    sql = "SELECT duration_ms FROM audit_modelcall WHERE session_id = ? AND kind = 'regen'"
    with database(site) as rows:
        return float(rows.execute(sql, [session_id]).fetchone()[0])


def database(site: LiveSite) -> "closing[sqlite3.Connection]":
    path = site.variables["DATABASE_URL"].removeprefix("sqlite:///")
    return closing(sqlite3.connect(path, timeout=20))


def compared_at(site: LiveSite, session_id: str) -> float:
    """When the comparison's line was in the log."""
    while True:
        now = time.time()
        lines = site.log.read_text().splitlines()
        if any(
            session_id in line and json.loads(line)["event"] == "regen_divergence_check"
            for line in lines
        ):
            return now
        time.sleep(0.005)


def received(message: dict[str, str]) -> float:
    return datetime.fromisoformat(message["received_at"]).timestamp()


def retry(site: LiveSite) -> float:
    """Seconds between a refused notice and the one that was taken."""
    query, email = "The retried idea", "retry@example.com"
    site.sandbox.fault("gemini", "verdict", label="GREEN", match=query)
    session_id = site.buy("quick", query, email)
    site.wait_for_mail(email)
    forget(site, session_id)
    site.sandbox.fault("gemini", "verdict", label="RED", match=query)
    site.sandbox.fault("graph", "unavailable", match="retry@example.com")
    site.api(session_id)
    refused = time.time()
    with Progress("the retry of a refused notice") as progress:
        while len(site.sandbox.messages(to=email)) < 2:
            progress.share(int(time.time() - refused), RETRY_SECONDS)
            time.sleep(0.2)
    _, notice = site.sandbox.messages(to=email)
    attempts = [
        datetime.fromisoformat(one["at"]).timestamp()
        for one in site.sandbox.requests("graph")
        if one["fault"] == "unavailable"
    ]
    return received(notice) - attempts[-1]


def measure(site: LiveSite) -> tuple[Taken, float]:
    site.sandbox.settings(latency=MODEL_SECONDS)
    for warming in range(4):  # the first call imports the model's library
        one(site, -1 - warming, Taken([], [], []))
    taken = Taken([], [], [])
    with Progress("misses") as progress:
        for number in range(MISSES):
            progress.share(number, MISSES)
            one(site, number, taken)
    return taken, retry(site)


def run() -> Section:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, live_site(Path(name)) as site:
        taken, retried = measure(site)
    figures = (
        ("miss to answer, less the model's time", taken.answer, 25.0),
        ("miss to the comparison's log entry", taken.logged, 1_000.0),
        ("miss to the customer's notice", taken.notified, 2_000.0),
    )
    rows = [
        [title, f"{statistics.median(took):.0f} ms", f"{max(took):.0f} ms"]
        for title, took, _ in figures
    ]
    rows.append(["a refused notice, sent again after", f"{retried:.1f} s", ""])
    limits = [
        Limit(f"{title}, median", statistics.median(took), most, unit=" ms")
        for title, took, most in figures
    ]
    limits.append(Limit("retry off its minute", abs(retried - RETRY_SECONDS), 2.0, unit=" s"))
    table = Table([f"{MISSES} misses that diverge", "median", "slowest"], rows)
    return Section("A miss", ABOUT, [table], limits)


if __name__ == "__main__":
    sys.exit(tell(run()))
