"""Cache hits while a web process on the same core serves pages continuously.

With `--before REVISION`, compared with an earlier revision (0.1.0 or before) whose web
process served both: its code is extracted from git, its server measured in the same rounds.
"""

import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from socket import create_server
from typing import Final, NamedTuple

import psutil

from benchmarks.cached import wrk
from benchmarks.cached.throughput import ORDERS, write_ids
from benchmarks.dataset.config import Dataset, production_env
from benchmarks.dataset.datasets import ENGINES, Datasets, Engine
from benchmarks.machine import find_program
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, number
from benchmarks.servers import (
    HOST,
    ROOT,
    running_reader,
    running_server,
    running_web,
    wait_until_idle,
)

ROUNDS: Final = 4
SECONDS: Final = 5.0
HEAD_START: Final = 0.5  # seconds of page load before the hits
THREADS: Final = 16  # the default of the earlier web process

DESCRIPTION: Final = """
Cache hits of the reader over 64 connections while 16 connections continuously request the landing
page from a web process on the same core, compared with hits alone. Four interleaved rounds; results
are medians. A failed request fails the benchmark.
""".strip()
BEFORE: Final = """
The earlier revision {} served hits and pages in one process; it is measured in the same rounds.
""".strip()


class Site(NamedTuple):
    processes: list[psutil.Process]
    hits_url: str
    pages_url: str


class Round(NamedTuple):
    hits: float  # per second
    p99: float
    pages: float  # per second


def run(datasets: Datasets, orders: int = ORDERS, before: str = "") -> Section:
    section = Section("Cached reads under mixed load", DESCRIPTION)
    if before:
        section.description += f"\n\n{BEFORE.format(before)}"
    if reason := wrk.skip_reason():
        section.limits += limits({}, {}, before=before, skip_reason=reason)
        return section
    ids = write_ids(datasets.folder / "ids.txt", orders)
    alone: dict[Engine, float] = {}
    measured: dict[Engine, dict[str, Round]] = {}
    with datasets.postgresql_pinned():
        for engine in ENGINES:
            dataset = datasets.filled(engine, orders).dataset
            alone[engine], measured[engine] = _measure(datasets.folder, dataset, ids, before)
    rows = [
        [f"{engine}, {name}", f"{one.hits:,.0f}", f"{number(one.p99)} ms", f"{one.pages:,.0f}"]
        for engine, rounds in measured.items()
        for name, one in rounds.items()
    ]
    section.tables.append(Table(["", "hits/s", "99th percentile", "pages/s"], rows))
    section.limits += limits(alone, measured, before=before)
    return section


def limits(
    alone: Mapping[Engine, float],
    measured: Mapping[Engine, Mapping[str, Round]],
    *,
    before: str,
    skip_reason: str = "",
) -> list[Limit]:
    found = []
    for engine in ENGINES:
        rounds = measured.get(engine, {})
        ours = rounds["now"].hits if rounds else None
        share = ours / alone[engine] if ours else None
        name = f"{engine}: hits/s with pages / alone"
        found.append(Limit(name, share, minimum=0.2, skip_reason=skip_reason))
        if before:
            ratio = ours / rounds[before].hits if ours else None
            name = f"{engine}: hits/s with pages / {before}"
            found.append(Limit(name, ratio, minimum=0.8, skip_reason=skip_reason))
    return found


def _measure(
    folder: Path, dataset: Dataset, ids: Path, before: str
) -> tuple[float, dict[str, Round]]:
    with ExitStack() as stack:
        sites = {"now": stack.enter_context(_now(folder, dataset))}
        if before:
            sites[before] = stack.enter_context(_earlier(folder, dataset, before))
        rounds: dict[str, list[Round]] = {name: [] for name in sites}
        alone: list[float] = []
        with ProgressBar("mixed load") as bar:
            for round_number in range(ROUNDS):
                bar.update(round_number, ROUNDS)
                alone.append(
                    wrk.load(sites["now"].hits_url, ids, seconds=SECONDS, secure=True).per_second
                )
                for name, site in sites.items():
                    rounds[name].append(_round(site, ids))
    return statistics.median(alone), {name: _median(each) for name, each in rounds.items()}


def _round(site: Site, ids: Path) -> Round:
    pages = wrk.started_page_load(site.pages_url, seconds=SECONDS + 2 * HEAD_START)
    with pages as wait:
        time.sleep(HEAD_START)
        hits = wrk.load(site.hits_url, ids, seconds=SECONDS, secure=True)
        page_load = wait()
    for one in site.processes:
        wait_until_idle(one)
    return Round(hits.per_second, hits.p99, page_load.per_second)


def _median(rounds: Sequence[Round]) -> Round:
    return Round(*(statistics.median(values) for values in zip(*rounds, strict=True)))


@contextmanager
def _now(folder: Path, dataset: Dataset) -> Iterator[Site]:
    with (
        running_reader(production_env(dataset), folder) as (reader, reader_url),
        running_web(production_env(dataset), folder) as (web, web_url),
    ):
        yield Site([reader, web], reader_url, web_url)


@contextmanager
def _earlier(folder: Path, dataset: Dataset, revision: str) -> Iterator[Site]:
    code = folder / f"revision-{revision}"
    if not code.exists():
        archived = subprocess.run(
            [find_program("git") or "git", "archive", revision],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
            archive.extractall(code, filter="data")
    env = {
        **production_env(dataset),
        "MALLOC_ARENA_MAX": "1",
        "ORACLE_STATIC_PATH": str(folder / "static"),  # collected by `running_web`
    }
    with create_server((HOST, 0), backlog=1024) as listener:
        port, fd = int(listener.getsockname()[1]), listener.fileno()
        command = [sys.executable, "-m", "oracle_site.web", "--listen", str(fd)]
        command += ["--threads", str(THREADS)]
        server = running_server(command, port=port, folder=folder, env=env, cwd=code, pass_fds=[fd])
        with server as process:
            url = f"http://{HOST}:{port}"
            yield Site([process], url, url)
