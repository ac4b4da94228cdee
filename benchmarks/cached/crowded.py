"""Hits while 500 regenerations wait for a slow model, beside hits alone; and the memory."""

import resource
import socket
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil

from benchmarks.cached import wrk
from benchmarks.cached.section import ORDERS, write_ids
from benchmarks.cached.wrk import PATH, Load
from benchmarks.dataset.past import is_delivered, session_id
from benchmarks.datasets import KINDS, Houses, Kind
from benchmarks.growth.places import Place, production
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, number
from benchmarks.servers import HOST, family, reader, wait_until_idle, web

UNDER_WAY: Final = 500
ROUNDS: Final = 3
SECONDS: Final = 5.0
MODEL_SECONDS: Final = 23.0  # a regeneration may take 25
START_TIMEOUT: Final = 20.0  # seconds until all are under way
HITS: Final = 200_000
Memory = tuple[float, float]  # MB after so many hits, and after as many again

FASTER: Final = f"hits/s with {UNDER_WAY} regenerations / without"
SLOWER: Final = "their 99th percentile, with / without"
PAGES: Final = 2_000
MEMORY: Final = f"memory after {HITS:,} hits"
WEB_MEMORY: Final = f"memory of a web process after {2 * PAGES:,} pages"
GROWN: Final = "memory after as many again / before"
PROMISED: Final = (
    Limit(FASTER, None, least=0.8),
    Limit(SLOWER, None, most=1.5),
    *(Limit(f"{kind}: {MEMORY}", None, most=90.0, unit=" MB") for kind in KINDS),
    *(Limit(f"{kind}: {GROWN}", None, most=1.05) for kind in KINDS),
    *(Limit(f"{kind}: {WEB_MEMORY}", None, most=90.0, unit=" MB") for kind in KINDS),
)

ABOUT: Final = """
Hits of the reader on SQLite while a web process on the same core has 500 regenerations in
progress, all of them waiting for a slow model; in turns with the same two while nothing waits. Then
the memory of the reader on each database after 200,000 hits and after as many again, and of the web
process after 2,000 landing pages and as many again.
""".strip()


class NotUnderWay(Exception):
    """The crowd did not come together, or was gone before the hits were measured."""


def run(houses: Houses, orders: int = ORDERS) -> Section:
    section = Section("Under strain", ABOUT)
    if missing := wrk.missing():
        section.limits += limits({}, missing)
        return section
    place = houses.filled("SQLite", orders).place
    ids = write_ids(houses.folder / "hits.txt", orders * 9 // 10)  # the others are to be missed
    houses.sandbox.settings(latency=MODEL_SECONDS)
    alone, crowded = _in_turns(houses.folder, place, ids)
    houses.sandbox.settings(latency=0)
    memory, web_memory = {}, {}
    for kind in KINDS:
        filled = houses.filled(kind, orders).place
        memory[kind] = _memory(houses.folder, filled, ids)
        web_memory[kind] = _web_memory(houses.folder, filled)
    section.tables += [
        _table(alone, crowded),
        _memory_table(memory, "the reader", f"{HITS:,} hits", f"{2 * HITS:,} hits"),
        _memory_table(web_memory, "a web process", f"{PAGES:,} pages", f"{2 * PAGES:,} pages"),
    ]
    figures = {FASTER: crowded.per_second / alone.per_second, SLOWER: crowded.p99 / alone.p99}
    for kind, (first, second) in memory.items():
        figures |= {f"{kind}: {MEMORY}": first, f"{kind}: {GROWN}": second / first}
        figures[f"{kind}: {WEB_MEMORY}"] = web_memory[kind][1]
    section.limits += limits(figures)
    return section


def limits(figures: Mapping[str, float], missing: str = "") -> list[Limit]:
    """All that was promised; `missing` says why there are no figures."""
    return [replace(one, figure=figures.get(one.what), why_not=missing) for one in PROMISED]


def _in_turns(folder: Path, place: Place, ids: Path) -> tuple[Load, Load]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a thread has files and sockets
    numbers = filter(is_delivered, range(place.orders, 0, -1))
    alone, crowded = [], []
    with (
        reader(production(place), folder) as (process, url),
        web(production(place), folder, regenerations=UNDER_WAY) as (busy, web_url),
        Progress("500 regenerations") as progress,
    ):
        for turn in range(ROUNDS):
            progress.share(turn, ROUNDS)
            alone.append(wrk.load(url, ids, seconds=SECONDS, secure=True))
            wait_until_idle(process)
            sessions = [session_id(next(numbers)) for _ in range(UNDER_WAY)]
            with _crowd(place, web_url, sessions):
                crowded.append(wrk.load(url, ids, seconds=SECONDS, secure=True))
            wait_until_idle(process)
            wait_until_idle(busy)
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
        deadline = time.monotonic() + START_TIMEOUT
        while (count := _under_way(rows)) < len(sessions):
            if time.monotonic() > deadline:
                raise NotUnderWay(
                    f"{count} of {len(sessions)} were under way in {START_TIMEOUT:.0f} s"
                )
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


def _memory(folder: Path, place: Place, ids: Path) -> Memory:
    """Of the reader."""
    with reader(production(place), folder) as (process, url):
        return _taken(process, HITS, lambda: wrk.load(url, ids, seconds=2.0, secure=True).requests)


def _web_memory(folder: Path, place: Place) -> Memory:
    """Of a web process."""
    with web(production(place), folder) as (process, url):
        return _taken(process, PAGES, lambda: wrk.load_page(url, seconds=2.0).requests)


def _taken(process: psutil.Process, requests: int, load: Callable[[], int]) -> Memory:
    """MB after so many requests, and after as many again."""
    taken = []
    with Progress("memory") as progress:
        for half in range(2):
            served = 0
            while served < requests:
                progress.share(half * requests + served, 2 * requests)
                served += load()
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


def _memory_table(memory: Mapping[Kind, Memory], what: str, *after: str) -> Table:
    rows = [[kind, *(f"{taken:.1f} MB" for taken in both)] for kind, both in memory.items()]
    return Table([f"memory of {what}", *after], rows)
