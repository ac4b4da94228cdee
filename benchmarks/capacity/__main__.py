"""Measures the cost of one order, read and regeneration, and prints the plan of docs/CAPACITY.md.

A site run by the systemd units of deploy/, on PostgreSQL, against the sandbox, whose
model responds at once. CPU time is counted per process, minus what the same processes
use when idle, so other load on the machine has little effect.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import LiteralString
from urllib.parse import parse_qs, urlsplit

import httpx
import psutil
import psycopg

from benchmarks.capacity.plan import Costs, table
from benchmarks.progress import ProgressBar
from benchmarks.report import Table, text_table
from drill.sites.live_site import LiveSite
from drill.sites.postgresql import throwaway_server
from drill.sites.served_site import served_site
from drill.sites.units import Host

ORDERS, HITS, PAGES, MISSES = 200, 4000, 300, 40
CONCURRENCY = 4
PROCESSES = {"web": "oracle-web@1", "generate": "oracle-generate", "post": "oracle-worker"}
IDLE_SECONDS = 10.0
COUNTERS: dict[str, LiteralString] = {
    "wal": "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')",
    "commits": "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
    "size": "SELECT pg_database_size(current_database())",
}


class Meter:
    """Resource use of the site's processes and its database: CPU seconds, commits, bytes."""

    def __init__(self, site: LiveSite) -> None:
        self._site = site
        self._url = site.variables["DATABASE_URL"]
        self._postgresql = postgresql_process(self._url)
        self._idle: dict[str, float] = {}

    def measure_idle(self) -> None:
        before = self._used()
        time.sleep(IDLE_SECONDS)
        after = self._used()
        self._idle = {name: (after[name] - before[name]) / IDLE_SECONDS for name in after}

    def measure(self, work: Callable[[], None]) -> dict[str, float]:
        """The resources that `work` used, minus idle use."""
        before, began = self._used(), time.monotonic()
        work()
        time.sleep(2)  # pg_stat_database is updated with a delay
        elapsed, after = time.monotonic() - began, self._used()
        return {name: after[name] - before[name] - self._idle[name] * elapsed for name in after}

    def generate_worker_mb(self) -> float:
        """Private memory (USS) of the largest generate worker."""
        workers = [one for name, one in self._processes() if name == "generate"]
        return float(max(one.memory_full_info().uss for one in workers) / 1e6)

    def _used(self) -> dict[str, float]:
        used = dict.fromkeys(("web", "generate", "post", "database"), 0.0)
        for name, one in self._processes():
            with suppress(psutil.Error):
                times = one.cpu_times()
                used[name] += times.user + times.system
        with psycopg.connect(self._url, autocommit=True) as connection:
            for name, sql in COUNTERS.items():
                used[name] = float((connection.execute(sql).fetchone() or [0])[0])
        used["log"] = self._site.log.stat().st_size
        return used

    def _processes(self) -> Iterator[tuple[str, psutil.Process]]:
        assert isinstance(self._site.runs, Host)
        for name, service in PROCESSES.items():
            for one in self._site.runs.processes(service):
                yield name, one
        for one in self._postgresql.children():
            yield "database", one


def postgresql_process(url: str) -> psutil.Process:
    """The postmaster of the throwaway server, whose socket is in its data directory."""
    (folder,) = parse_qs(urlsplit(url).query)["host"]
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.name() == "postgres" and folder in one.cmdline():
                return one
    raise LookupError(f"no postgres process with data directory {folder}")


def buy(site: LiveSite, numbers: range) -> None:
    """Place orders and wait until each verdict is in its buyer's mailbox."""

    def one(number: int) -> None:
        email = f"capacity{number}@example.com"
        site.buy("full", f"Idea number {number}: a ferry to the island?", email)
        deadline = time.monotonic() + 120
        while not site.sandbox.messages(to=email):
            assert time.monotonic() < deadline, "a verdict was not delivered within 120 s"
            time.sleep(0.2)

    with ThreadPoolExecutor(CONCURRENCY) as pool:
        list(pool.map(one, numbers))


def request(site: LiveSite, path: str, times: int) -> None:
    def one_client(_: int) -> None:
        with httpx.Client(base_url=site.url, timeout=40, trust_env=False) as http:
            for _ in range(times // CONCURRENCY):
                assert http.get(path).status_code == 200

    with ThreadPoolExecutor(CONCURRENCY) as pool:
        list(pool.map(one_client, range(CONCURRENCY)))


def measure(site: LiveSite) -> Costs:
    meter = Meter(site)
    with ProgressBar("warm-up") as bar:
        buy(site, range(-8, 0))
        request(site, "/", 40)
        bar.describe("idle use")
        meter.measure_idle()
        bar.describe(f"{ORDERS} orders")
        began = time.monotonic()
        order = meter.measure(lambda: buy(site, range(ORDERS)))
        rate = ORDERS / (time.monotonic() - began)
        session = site.buy("full", "The one that is read", "reader@example.com")
        while site.api(session).status_code != 200:
            time.sleep(0.2)
        bar.describe(f"{HITS} cached reads")
        hit = meter.measure(lambda: request(site, f"/api/verdict?session_id={session}", HITS))
        bar.describe(f"{PAGES} result pages")
        page = meter.measure(lambda: request(site, f"/oracle/result?session_id={session}", PAGES))
        bar.describe(f"{MISSES} regenerations")
        miss = meter.measure(lambda: regenerate(site))
    print(f"{rate:.1f} orders per second, everything on this machine")
    return Costs(
        web_ms=order["web"] / ORDERS * 1000,
        generate_ms=order["generate"] / ORDERS * 1000,
        post_ms=order["post"] / ORDERS * 1000,
        database_ms=order["database"] / ORDERS * 1000,
        commits=order["commits"] / ORDERS,
        wal_kb=order["wal"] / ORDERS / 1000,
        stored_kb=order["size"] / ORDERS / 1000,
        log_kb=order["log"] / ORDERS / 1000,
        hit_ms=hit["web"] / HITS * 1000,
        page_ms=page["web"] / PAGES * 1000,
        miss_ms=miss["web"] / MISSES * 1000,
        generate_mb=meter.generate_worker_mb(),
    )


def regenerate(site: LiveSite) -> None:
    """Evict verdicts from the cache and read each once."""
    url = site.variables["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        evicted = connection.execute(
            "DELETE FROM verdicts_cachedverdict WHERE session_id IN (SELECT session_id FROM"
            " verdicts_order WHERE email LIKE 'capacity%%' LIMIT %s) RETURNING session_id",
            [MISSES],
        ).fetchall()
    assert len(evicted) == MISSES
    for (session,) in evicted:
        assert site.api(session).json()["regen"] is True


@contextmanager
def site() -> Iterator[LiveSite]:
    with (
        throwaway_server() as server,
        tempfile.TemporaryDirectory(prefix="oracle-bench-") as folder,
    ):
        # `served_site` creates its own database on that server.
        os.environ["DATABASE_URL"] = server.url
        with served_site(Path(folder), services=[*PROCESSES.values()]) as served:
            yield served


def main() -> int:
    with site() as served:
        costs = measure(served)
    rows = [[name, f"{value:.2f}"] for name, value in costs._asdict().items()]
    print(f"\n{text_table(Table(['cost', 'value'], rows))}\n\n{table(costs)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
