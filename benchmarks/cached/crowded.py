"""Hits while 500 regenerations wait for a slow model, beside hits alone; and the memory."""

import resource
import socket
import sqlite3
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil

from benchmarks.cached import wrk
from benchmarks.cached.section import ORDERS, write_ids
from benchmarks.cached.wrk import PATH, Load
from benchmarks.growth.places import Place, production
from benchmarks.house.past import is_delivered, session_id
from benchmarks.houses import Houses
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, number
from benchmarks.servers import HOST, family, site, wait_until_idle

UNDER_WAY: Final = 500
ROUNDS: Final = 3
SECONDS: Final = 5.0
MODEL_SECONDS: Final = 23.0  # a regeneration may take 25
PATIENCE: Final = 20.0  # seconds until all are under way
HITS: Final = 200_000
MOST_MEMORY: Final = 90.0  # MB

ABOUT: Final = """
One web process on SQLite that may have 500 regenerations under way, all of them waiting for a slow
model; in turns with the same process while nobody waits. Then the memory of a web process as it
serves by default, after 200,000 hits and after as many again.
""".strip()


class NotUnderWay(Exception):
    """The crowd did not come together, or was gone before the hits were measured."""


def run(houses: Houses, orders: int = ORDERS) -> Section:
    place = houses.filled("SQLite", orders).place
    ids = write_ids(houses.folder / "hits.txt", orders * 9 // 10)  # the others are to be missed
    section = Section("Under strain", ABOUT)
    houses.sandbox.settings(latency=MODEL_SECONDS)
    alone, crowded = _in_turns(houses.folder, place, ids)
    houses.sandbox.settings(latency=0)
    section.tables.append(_table(alone, crowded))
    first, second = _memory(houses.folder, place, ids)
    section.tables.append(_memory_table(first, second))
    faster, slower = crowded.per_second / alone.per_second, crowded.p99 / alone.p99
    section.limits += [
        Limit(f"hits/s with {UNDER_WAY} regenerations / without", faster, least=0.8),
        Limit("their 99th percentile, with / without", slower, most=1.5),
        Limit(f"memory after {HITS:,} hits", first, most=MOST_MEMORY, unit=" MB"),
        Limit("memory after as many again / before", second / first, most=1.05),
    ]
    return section


def _in_turns(folder: Path, place: Place, ids: Path) -> tuple[Load, Load]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a thread has files and sockets
    numbers = filter(is_delivered, range(place.orders, 0, -1))
    alone, crowded = [], []
    with (
        site(production(place), folder, regenerations=UNDER_WAY) as (process, url),
        Progress("500 regenerations") as progress,
    ):
        for turn in range(ROUNDS):
            progress.share(turn, ROUNDS)
            alone.append(wrk.load(url, ids, seconds=SECONDS, secure=True))
            wait_until_idle(process)
            sessions = [session_id(next(numbers)) for _ in range(UNDER_WAY)]
            with _crowd(place, url, sessions):
                crowded.append(wrk.load(url, ids, seconds=SECONDS, secure=True))
            wait_until_idle(process)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return _median(alone), _median(crowded)


def _median(loads: Sequence[Load]) -> Load:
    return Load(
        statistics.median(one.per_second for one in loads),
        statistics.median(one.median for one in loads),
        statistics.median(one.p99 for one in loads),
        sum(one.requests for one in loads),
    )


@contextmanager
def _crowd(place: Place, url: str, sessions: Sequence[str]) -> Iterator[None]:
    """Readers of sessions that the cache has lost, all of them waiting while the block runs."""
    with closing(sqlite3.connect(place.database.removeprefix("sqlite:///"), timeout=20)) as rows:
        marks = ", ".join("?" * len(sessions))
        evict = f"DELETE FROM verdicts_cachedverdict WHERE session_id IN ({marks})"  # noqa: S608 - marks only
        rows.execute(evict, sessions)
        rows.commit()
        port = urlsplit(url).port or 0
        waiting = [_asked(port, session) for session in sessions]
        deadline = time.monotonic() + PATIENCE
        while (count := _under_way(rows)) < len(sessions):
            if time.monotonic() > deadline:
                raise NotUnderWay(f"{count} of {len(sessions)} were under way in {PATIENCE:.0f} s")
            time.sleep(0.2)
        yield
        if _under_way(rows) < len(sessions):
            raise NotUnderWay("some regenerations were over before the hits were measured")
    for one in waiting:
        with one:
            one.settimeout(60)
            while one.recv(65_536):
                pass


def _asked(port: int, session: str) -> socket.socket:
    asked = f"GET {PATH}{session} HTTP/1.1\r\nHost: {HOST}:{port}\r\nX-Forwarded-Proto: https\r\n"
    one = socket.create_connection((HOST, port))
    one.sendall(f"{asked}X-Forwarded-For: {HOST}\r\nConnection: close\r\n\r\n".encode())
    return one


def _under_way(rows: sqlite3.Connection) -> int:
    """Claimed and not given back."""
    counted = rows.execute("SELECT count(*) FROM verdicts_order WHERE regen_until NOTNULL")
    return int(counted.fetchone()[0])


def _memory(folder: Path, place: Place, ids: Path) -> tuple[float, float]:
    """MB of a web process after so many hits, and after as many again."""
    taken = []
    with (
        site(production(place), folder) as (process, url),
        Progress("memory") as progress,
    ):
        for half in range(2):
            served = 0
            while served < HITS:
                progress.share(half * HITS + served, 2 * HITS)
                served += wrk.load(url, ids, seconds=2.0, secure=True).requests
            wait_until_idle(process)
            taken.append(_resident(process))
    return taken[0], taken[1]


def _resident(process: psutil.Process) -> float:
    """Of the process that answers, which is the largest of its family."""
    return float(max(one.memory_info().rss for one in family(process)) / 2**20)


def _table(alone: Load, crowded: Load) -> Table:
    rows = [
        [name, f"{one.per_second:,.0f}", f"{number(one.median)} ms", f"{number(one.p99)} ms"]
        for name, one in (("alone", alone), (f"beside {UNDER_WAY} regenerations", crowded))
    ]
    return Table(["hits", "requests/s", "median", "99th percentile"], rows)


def _memory_table(first: float, second: float) -> Table:
    rows = [[f"{HITS:,} hits", f"{first:.1f} MB"], [f"{2 * HITS:,} hits", f"{second:.1f} MB"]]
    return Table(["one web process", "memory"], rows)
