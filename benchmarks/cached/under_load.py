"""Cache hits during 500 regenerations that wait for a slow model, and memory use under load."""

import resource
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import psutil

from benchmarks.cached import wrk
from benchmarks.cached.throughput import ORDERS, median_load, write_ids
from benchmarks.cached.wrk import PATH, Load
from benchmarks.dataset.config import Dataset, production_env
from benchmarks.dataset.datasets import ENGINES, Datasets, Engine
from benchmarks.dataset.history import is_delivered, session_id
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, number
from benchmarks.servers import HOST, process_tree, running_reader, running_web, wait_until_idle

REGENERATIONS: Final = 500
ROUNDS: Final = 3
SECONDS: Final = 5.0
MODEL_SECONDS: Final = 23.0  # below the deadline of a regeneration, 25 s
START_TIMEOUT: Final = 20.0  # seconds until all regenerations are in progress
HITS: Final = 200_000
Memory = tuple[float, float]  # MB after HITS or PAGES requests, and after twice as many

THROUGHPUT: Final = f"hits/s with {REGENERATIONS} regenerations / without"
P99: Final = f"99th percentile with {REGENERATIONS} regenerations / without"
PAGES: Final = 2_000
MEMORY: Final = f"memory after {HITS:,} hits"
WEB_MEMORY: Final = f"memory of a web process after {2 * PAGES:,} pages"
GROWTH: Final = f"memory after {2 * HITS:,} hits / after {HITS:,}"
LIMITS: Final = (
    Limit(THROUGHPUT, None, minimum=0.8),
    Limit(P99, None, maximum=1.5),
    *(Limit(f"{engine}: {MEMORY}", None, maximum=90.0, unit=" MB") for engine in ENGINES),
    *(Limit(f"{engine}: {GROWTH}", None, maximum=1.05) for engine in ENGINES),
    *(Limit(f"{engine}: {WEB_MEMORY}", None, maximum=90.0, unit=" MB") for engine in ENGINES),
)

DESCRIPTION: Final = """
Cache hits of the reader on SQLite while a web process on the same core has 500 regenerations in
progress, all waiting for a slow model; interleaved with rounds without regenerations. Then the
memory of the reader on each database after 200,000 and 400,000 hits, and of the web process after
2,000 and 4,000 landing pages.
""".strip()


class RegenerationsNotRunning(Exception):
    """Not all regenerations started in time, or some ended before the hits were measured."""


def run(datasets: Datasets, orders: int = ORDERS) -> Section:
    section = Section("Under load", DESCRIPTION)
    if reason := wrk.skip_reason():
        section.limits += limits({}, reason)
        return section
    dataset = datasets.filled("SQLite", orders).dataset
    ids = write_ids(datasets.folder / "hits.txt", orders * 9 // 10)  # the others are evicted
    datasets.sandbox.settings(latency=MODEL_SECONDS)
    alone, loaded = _measure(datasets.folder, dataset, ids)
    datasets.sandbox.settings(latency=0)
    memory, web_memory = {}, {}
    for engine in ENGINES:
        dataset = datasets.filled(engine, orders).dataset
        memory[engine] = _reader_memory(datasets.folder, dataset, ids)
        web_memory[engine] = _web_memory(datasets.folder, dataset)
    section.tables += [
        _table(alone, loaded),
        _memory_table(memory, "the reader", f"{HITS:,} hits", f"{2 * HITS:,} hits"),
        _memory_table(web_memory, "a web process", f"{PAGES:,} pages", f"{2 * PAGES:,} pages"),
    ]
    values = {THROUGHPUT: loaded.per_second / alone.per_second, P99: loaded.p99 / alone.p99}
    for engine, (first, second) in memory.items():
        values |= {f"{engine}: {MEMORY}": first, f"{engine}: {GROWTH}": second / first}
        values[f"{engine}: {WEB_MEMORY}"] = web_memory[engine][1]
    section.limits += limits(values)
    return section


def limits(values: Mapping[str, float], skip_reason: str = "") -> list[Limit]:
    """All limits; without `values`, `skip_reason` says why."""
    return [replace(one, value=values.get(one.name), skip_reason=skip_reason) for one in LIMITS]


def _measure(folder: Path, dataset: Dataset, ids: Path) -> tuple[Load, Load]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Each regeneration thread opens files and sockets.
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    numbers = filter(is_delivered, range(dataset.orders, 0, -1))
    alone, loaded = [], []
    with (
        running_reader(production_env(dataset), folder) as (reader, reader_url),
        running_web(production_env(dataset), folder, max_regenerations=REGENERATIONS) as (
            web,
            web_url,
        ),
        ProgressBar(f"{REGENERATIONS} regenerations") as bar,
    ):
        for round_number in range(ROUNDS):
            bar.update(round_number, ROUNDS)
            alone.append(wrk.load(reader_url, ids, seconds=SECONDS, secure=True))
            wait_until_idle(reader)
            sessions = [session_id(next(numbers)) for _ in range(REGENERATIONS)]
            with _regenerating(dataset, web_url, sessions):
                loaded.append(wrk.load(reader_url, ids, seconds=SECONDS, secure=True))
            wait_until_idle(reader)
            wait_until_idle(web)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return median_load(alone), median_load(loaded)


@contextmanager
def _regenerating(dataset: Dataset, url: str, sessions: Sequence[str]) -> Iterator[None]:
    """Evict the sessions and request them; all are being regenerated while the block runs."""
    database = dataset.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(database, timeout=20)) as connection:
        placeholders = ", ".join("?" * len(sessions))
        evict = f"DELETE FROM verdicts_cachedverdict WHERE session_id IN ({placeholders})"  # noqa: S608 - placeholders only
        connection.execute(evict, sessions)
        connection.commit()
        port = urlsplit(url).port or 0
        clients = [_send_request(port, session) for session in sessions]
        deadline = time.monotonic() + START_TIMEOUT
        while (count := _in_progress(connection)) < len(sessions):
            if time.monotonic() > deadline:
                raise RegenerationsNotRunning(
                    f"{count} of {len(sessions)} started within {START_TIMEOUT:.0f} s"
                )
            time.sleep(0.2)
        yield
        if _in_progress(connection) < len(sessions):
            raise RegenerationsNotRunning("some regenerations ended before the hits were measured")
    for client in clients:
        with client:
            client.settimeout(60)
            while client.recv(65_536):
                pass


def _send_request(port: int, session: str) -> socket.socket:
    request = f"GET {PATH}{session} HTTP/1.1\r\nHost: {HOST}:{port}\r\nX-Forwarded-Proto: https\r\n"
    client = socket.create_connection((HOST, port))
    client.sendall(f"{request}X-Forwarded-For: {HOST}\r\nConnection: close\r\n\r\n".encode())
    return client


def _in_progress(connection: sqlite3.Connection) -> int:
    """The number of regenerations whose lease is held."""
    counted = connection.execute("SELECT count(*) FROM verdicts_order WHERE regen_until NOTNULL")
    return int(counted.fetchone()[0])


def _reader_memory(folder: Path, dataset: Dataset, ids: Path) -> Memory:
    with running_reader(production_env(dataset), folder) as (process, url):
        return _memory(process, HITS, lambda: wrk.load(url, ids, seconds=2.0, secure=True).requests)


def _web_memory(folder: Path, dataset: Dataset) -> Memory:
    with running_web(production_env(dataset), folder) as (process, url):
        return _memory(process, PAGES, lambda: wrk.load_page(url, seconds=2.0).requests)


def _memory(process: psutil.Process, requests: int, load: Callable[[], int]) -> Memory:
    """MB after that many requests, and after twice as many."""
    samples = []
    with ProgressBar("memory") as bar:
        for half in range(2):
            served = 0
            while served < requests:
                bar.update(half * requests + served, 2 * requests)
                served += load()
            wait_until_idle(process)
            samples.append(_resident_mb(process))
    return samples[0], samples[1]


def _resident_mb(process: psutil.Process) -> float:
    """Of the worker process, which is the largest of the process tree."""
    return float(max(one.memory_info().rss for one in process_tree(process)) / 2**20)


def _table(alone: Load, loaded: Load) -> Table:
    rows = [
        [name, f"{one.per_second:,.0f}", f"{number(one.median)} ms", f"{number(one.p99)} ms"]
        for name, one in (("alone", alone), (f"with {REGENERATIONS} regenerations", loaded))
    ]
    return Table(["hits", "requests/s", "median", "99th percentile"], rows)


def _memory_table(memory: Mapping[Engine, Memory], process: str, *after: str) -> Table:
    rows = [[engine, *(f"{mb:.1f} MB" for mb in samples)] for engine, samples in memory.items()]
    return Table([f"memory of {process}", *after], rows)
