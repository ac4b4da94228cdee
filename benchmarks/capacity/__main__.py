"""What one order, one read and one regeneration cost, and what a house of some size needs.

A site as the units of deploy/ run it, on PostgreSQL, against the sandbox, which answers
at once. Processor time is counted per process, less what the same processes use
while nothing is asked of them, so a busy machine changes little. Writes the
costs and the table of docs/CAPACITY.md.
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
from drill.sites.live_site import LiveSite
from drill.sites.postgresql import throwaway_server
from drill.sites.served_site import served_site
from drill.sites.units import Host

ORDERS, HITS, PAGES, MISSES = 200, 4000, 300, 40
AT_ONCE = 4
PROCESSES = {"web": "oracle-web@1", "generate": "oracle-generate", "post": "oracle-worker"}
IDLE_SECONDS = 10.0
QUESTIONS: dict[str, LiteralString] = {
    "wal": "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')",
    "commits": "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()",
    "size": "SELECT pg_database_size(current_database())",
}


class Meter:
    """What programs and the database use: processor seconds, commits, bytes."""

    def __init__(self, site: LiveSite) -> None:
        self._site = site
        self._url = site.variables["DATABASE_URL"]
        self._server = database_server(self._url)
        self._idle: dict[str, float] = {}

    def learn_idle(self) -> None:
        before = self._used()
        time.sleep(IDLE_SECONDS)
        after = self._used()
        self._idle = {name: (after[name] - before[name]) / IDLE_SECONDS for name in after}

    def of(self, work: Callable[[], None]) -> dict[str, float]:
        """What the work took, beyond what passes anyway."""
        before, began = self._used(), time.monotonic()
        work()
        time.sleep(2)  # statistics come late
        passed, after = time.monotonic() - began, self._used()
        return {name: after[name] - before[name] - self._idle[name] * passed for name in after}

    def memory_of_a_worker(self) -> float:
        """Megabytes that the largest worker of generate has for itself."""
        workers = [one for name, one in self._processes() if name == "generate"]
        return float(max(one.memory_full_info().uss for one in workers) / 1e6)

    def _used(self) -> dict[str, float]:
        used = dict.fromkeys(("web", "generate", "post", "database"), 0.0)
        for name, one in self._processes():
            with suppress(psutil.Error):
                times = one.cpu_times()
                used[name] += times.user + times.system
        with psycopg.connect(self._url, autocommit=True) as connection:
            for name, question in QUESTIONS.items():
                used[name] = float((connection.execute(question).fetchone() or [0])[0])
        used["log"] = self._site.log.stat().st_size
        return used

    def _processes(self) -> Iterator[tuple[str, psutil.Process]]:
        assert isinstance(self._site.runs, Host)
        for name, service in PROCESSES.items():
            for one in self._site.runs.processes(service):
                yield name, one
        for one in self._server.children():
            yield "database", one


def database_server(url: str) -> psutil.Process:
    """The throwaway server whose socket lies in its own data folder."""
    (folder,) = parse_qs(urlsplit(url).query)["host"]
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.name() == "postgres" and folder in one.cmdline():
                return one
    raise LookupError(f"no server of {folder}")


def buy(site: LiveSite, numbers: range) -> None:
    """Orders, until each is in its buyer's mailbox."""

    def one(number: int) -> None:
        email = f"capacity{number}@example.com"
        site.buy("full", f"Sample number {number}: a ferry to the island?", email)
        deadline = time.monotonic() + 120
        while not site.sandbox.messages(to=email):
            assert time.monotonic() < deadline, "an order never arrived"
            time.sleep(0.2)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, numbers))


def ask(site: LiveSite, path: str, times: int) -> None:
    def some(_: int) -> None:
        with httpx.Client(base_url=site.url, timeout=40, trust_env=False) as http:
            for _ in range(times // AT_ONCE):
                assert http.get(path).status_code == 200

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(some, range(AT_ONCE)))


def measure(site: LiveSite) -> Costs:
    meter = Meter(site)
    progress("warming up")
    buy(site, range(-8, 0))
    ask(site, "/", 40)
    progress("what passes while nothing is asked")
    meter.learn_idle()
    progress(f"{ORDERS} orders")
    began = time.monotonic()
    order = meter.of(lambda: buy(site, range(ORDERS)))
    print(f"{ORDERS / (time.monotonic() - began):.1f} orders a second, all on this machine")
    session = site.buy("full", "The one that is read", "reader@example.com")
    while site.api(session).status_code != 200:
        time.sleep(0.2)
    progress(f"{HITS} cached answers")
    hit = meter.of(lambda: ask(site, f"/api/verdict?session_id={session}", HITS))
    progress(f"{PAGES} result pages")
    page = meter.of(lambda: ask(site, f"/oracle/result?session_id={session}", PAGES))
    progress(f"{MISSES} regenerations")
    miss = meter.of(lambda: miss_some(site))
    progress("")
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
        generate_mb=meter.memory_of_a_worker(),
    )


def miss_some(site: LiveSite) -> None:
    """Reads of answers that the cache has just lost."""
    url = site.variables["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        gone = connection.execute(
            "DELETE FROM verdicts_cachedverdict WHERE session_id IN (SELECT session_id FROM"
            " verdicts_order WHERE email LIKE 'capacity%%' LIMIT %s) RETURNING session_id",
            [MISSES],
        ).fetchall()
    assert len(gone) == MISSES
    for (session,) in gone:
        assert site.api(session).json()["regen"] is True


@contextmanager
def site() -> Iterator[LiveSite]:
    with (
        throwaway_server() as server,
        tempfile.TemporaryDirectory(prefix="oracle-bench-") as folder,
    ):
        os.environ["DATABASE_URL"] = server.url  # a database of its own is made on that server
        with served_site(Path(folder), services=[*PROCESSES.values()]) as served:
            yield served


def progress(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r  {what:<40}", end="" if what else "\r", file=sys.stderr, flush=True)


def main() -> int:
    with site() as served:
        costs = measure(served)
    print()
    for name, value in costs._asdict().items():
        print(f"  {name:<12} {value:8.2f}")
    print(f"\n{table(costs)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
