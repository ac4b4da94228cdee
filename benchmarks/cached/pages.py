"""Hits while Django's pages are asked for without pause on the same core.

With `--before REVISION`, beside the web process of an earlier revision that answered both
itself (0.1.0 and before): its code is taken from git, its server measured in alternating rounds.
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
from benchmarks.cached.section import ORDERS, write_ids
from benchmarks.datasets import KINDS, Houses, Kind
from benchmarks.growth.places import Place, production
from benchmarks.machine import found
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, number
from benchmarks.servers import HOST, ROOT, reader, started, wait_until_idle, web

ROUNDS: Final = 4
SECONDS: Final = 5.0
HEAD_START: Final = 0.5  # seconds of pages before the hits
THREADS: Final = 16  # of the earlier web process, as it was by default

ABOUT: Final = """
Hits of the reader while 16 connections ask a web process on the same core for the landing page
without pause, beside hits alone; 64 connections ask for hits. In turns, four rounds; figures are
medians. Every request must be answered.
""".strip()
EARLIER: Final = """
The earlier revision {} answered hits and pages in one process; it is measured in the same rounds.
""".strip()


class Site(NamedTuple):
    processes: list[psutil.Process]
    hits: str  # addresses
    pages: str


class Round(NamedTuple):
    hits: float  # per second
    p99: float
    pages: float  # per second


def run(houses: Houses, orders: int = ORDERS, before: str = "") -> Section:
    section = Section("Cached reads beside busy pages", ABOUT)
    if before:
        section.about += f"\n\n{EARLIER.format(before)}"
    if missing := wrk.missing():
        section.limits += limits({}, {}, before=before, missing=missing)
        return section
    ids = write_ids(houses.folder / "ids.txt", orders)
    alone: dict[Kind, float] = {}
    measured: dict[Kind, dict[str, Round]] = {}
    with houses.pinned():
        for kind in KINDS:
            place = houses.filled(kind, orders).place
            alone[kind], measured[kind] = _measure(houses, place, ids, before)
    rows = [
        [f"{kind}, {name}", f"{one.hits:,.0f}", f"{number(one.p99)} ms", f"{one.pages:,.0f}"]
        for kind, rounds in measured.items()
        for name, one in rounds.items()
    ]
    section.tables.append(Table(["", "hits/s", "99th percentile", "pages/s"], rows))
    section.limits += limits(alone, measured, before=before)
    return section


def limits(
    alone: Mapping[Kind, float],
    measured: Mapping[Kind, Mapping[str, Round]],
    *,
    before: str,
    missing: str = "",
) -> list[Limit]:
    listed = []
    for kind in KINDS:
        rounds = measured.get(kind, {})
        ours = rounds["now"].hits if rounds else None
        share = ours / alone[kind] if ours else None
        what = f"{kind}: hits/s beside busy pages / alone"
        listed.append(Limit(what, share, least=0.2, why_not=missing))
        if before:
            ratio = ours / rounds[before].hits if ours else None
            what = f"{kind}: hits/s beside busy pages / those of {before}"
            listed.append(Limit(what, ratio, least=0.8, why_not=missing))
    return listed


def _measure(
    houses: Houses, place: Place, ids: Path, before: str
) -> tuple[float, dict[str, Round]]:
    with ExitStack() as stack:
        sites = {"now": stack.enter_context(_now(houses.folder, place))}
        if before:
            sites[before] = stack.enter_context(_earlier(houses.folder, place, before))
        rounds: dict[str, list[Round]] = {name: [] for name in sites}
        alone: list[float] = []
        with Progress("busy pages") as progress:
            for turn in range(ROUNDS):
                progress.share(turn, ROUNDS)
                alone.append(
                    wrk.load(sites["now"].hits, ids, seconds=SECONDS, secure=True).per_second
                )
                for name, site in sites.items():
                    rounds[name].append(_round(site, ids))
    return statistics.median(alone), {name: _median(its) for name, its in rounds.items()}


def _round(site: Site, ids: Path) -> Round:
    pages = wrk.started_page_load(site.pages, seconds=SECONDS + 2 * HEAD_START)
    with pages as ended:
        time.sleep(HEAD_START)
        hits = wrk.load(site.hits, ids, seconds=SECONDS, secure=True)
        shown = ended()
    for one in site.processes:
        wait_until_idle(one)
    return Round(hits.per_second, hits.p99, shown.per_second)


def _median(rounds: Sequence[Round]) -> Round:
    return Round(*(statistics.median(figures) for figures in zip(*rounds, strict=True)))


@contextmanager
def _now(folder: Path, place: Place) -> Iterator[Site]:
    with (
        reader(production(place), folder) as (reads, hits),
        web(production(place), folder) as (serves, pages),
    ):
        yield Site([reads, serves], hits, pages)


@contextmanager
def _earlier(folder: Path, place: Place, revision: str) -> Iterator[Site]:
    code = folder / f"revision-{revision}"
    if not code.exists():
        packed = subprocess.run(
            [found("git") or "git", "archive", revision], cwd=ROOT, check=True, capture_output=True
        )
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(code, filter="data")
    env = {
        **production(place),
        "MALLOC_ARENA_MAX": "1",
        "ORACLE_STATIC_PATH": str(folder / "static"),  # `web` has collected the same files
    }
    with create_server((HOST, 0), backlog=1024) as listener:
        port, held = int(listener.getsockname()[1]), listener.fileno()
        command = [sys.executable, "-m", "oracle_site.web", "--listen", str(held)]
        command += ["--threads", str(THREADS)]
        serving = started(command, port=port, folder=folder, env=env, cwd=code, keeps=[held])
        with serving as process:
            url = f"http://{HOST}:{port}"
            yield Site([process], url, url)
