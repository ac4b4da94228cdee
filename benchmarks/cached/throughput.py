"""Throughput and 99th percentile of cached reads, compared with peers."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks import plot
from benchmarks.cached import wrk
from benchmarks.cached.targets import (
    BARE,
    DRF,
    FASTAPI,
    NGINX,
    SITE_POSTGRESQL,
    SITE_SQLITE,
    Target,
    start_targets,
)
from benchmarks.cached.wrk import Load
from benchmarks.dataset.datasets import Datasets
from benchmarks.dataset.history import is_delivered, session_id
from benchmarks.dataset.samples import samples
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Plot, Section, Table, number
from benchmarks.servers import wait_until_idle

ORDERS: Final = 100_000
ROUNDS: Final = 4
SECONDS: Final = 6.0

DESCRIPTION: Final = """
`GET /api/verdict` for 100,000 sessions at random, responses of 2.4 KB, 64 connections. The server
and its database or Redis share one core; wrk has the other. Servers are measured in four
interleaved rounds; results are medians. The site is the reader of deploy/ on both databases, with
its read counter, requested directly like its peers in `benchmarks/peers`. Bare Django is a single
view that reads no data, under granian with one thread and with four, and under gunicorn; throughput
is compared with the fastest of them. The 99th percentile on PostgreSQL is compared with FastAPI and
DRF only, since the bare Django views read no data. The databases are held in the page cache.
""".strip()


def run(datasets: Datasets, orders: int = ORDERS) -> Section:
    section = Section("Cached reads", DESCRIPTION)
    if reason := wrk.skip_reason():
        section.limits += limits({}, dict.fromkeys((FASTAPI, NGINX, *BARE, *DRF), reason))
        return section
    ids = write_ids(datasets.folder / "ids.txt", orders)
    body = samples(str)[1].original.body.encode()
    site_datasets = {
        SITE_SQLITE: datasets.filled("SQLite", orders).dataset,
        SITE_POSTGRESQL: datasets.filled("PostgreSQL", orders).dataset,
    }
    datasets.create_database("plain_drf")
    drf_database = f"{datasets.socket},plain_drf"
    targets = start_targets(datasets.folder, ids, body, site_datasets, drf_database)
    with datasets.postgresql_pinned(), targets as running:
        found = measure(running.targets, ids)
        skipped = running.skipped
    section.tables.append(_table(found))
    section.limits += limits(found, skipped)
    section.plots.append(_plot(found))
    section.notes += [f"Skipped: {name}: {reason}." for name, reason in skipped.items()]
    section.notes += datasets.disk_warnings()
    return section


def write_ids(path: Path, orders: int) -> Path:
    if not path.exists():
        numbers = filter(is_delivered, range(1, orders + 1))
        path.write_text("".join(f"{session_id(number)}\n" for number in numbers))
    return path


def measure(targets: Sequence[Target], ids: Path) -> dict[str, Load]:
    rounds: dict[str, list[Load]] = {one.name: [] for one in targets}
    done, total = 0, ROUNDS * len(targets)
    with ProgressBar("cached reads") as bar:
        for _ in range(ROUNDS):
            for one in targets:
                rounds[one.name].append(wrk.load(one.url, ids, seconds=SECONDS, secure=one.secure))
                wait_until_idle(one.process)  # its deferred work must not slow the next target
                done += 1
                bar.update(done, total)
    return {name: median_load(loads) for name, loads in rounds.items()}


def median_load(loads: Sequence[Load]) -> Load:
    return Load(
        statistics.median(one.per_second for one in loads),
        statistics.median(one.median for one in loads),
        statistics.median(one.p99 for one in loads),
        sum(one.requests for one in loads),
    )


def _table(found: dict[str, Load]) -> Table:
    baseline = found.get(FASTAPI)
    ordered = sorted(found.items(), key=lambda item: -item[1].per_second)
    rows = [
        [
            name,
            number(one.per_second / baseline.per_second) if baseline else "",
            f"{one.per_second:,.0f}",
            f"{number(one.median)} ms",
            f"{number(one.p99)} ms",
        ]
        for name, one in ordered
    ]
    return Table(["", f"× {FASTAPI}", "requests/s", "median", "99th percentile"], rows)


def limits(found: Mapping[str, Load], skipped: Mapping[str, str]) -> list[Limit]:
    """All limits, measured or not; `skipped` has the reason for each peer without a result."""
    return _throughput(found, skipped) + _latency(found, skipped)


def _throughput(found: Mapping[str, Load], skipped: Mapping[str, str]) -> list[Limit]:
    bare = max(BARE, key=lambda name: found[name].per_second if name in found else 0.0)
    bounds = (
        (SITE_SQLITE, FASTAPI, 5.0),
        (SITE_SQLITE, bare, 1.7),
        (SITE_SQLITE, NGINX, 0.28),
        (SITE_POSTGRESQL, FASTAPI, 3.0),
    )
    return [
        Limit(
            f"{ours} / {peer}",
            found[ours].per_second / found[peer].per_second if peer in found else None,
            minimum=minimum,
            unit=" ×",
            skip_reason=skipped.get(peer, ""),
        )
        for ours, peer, minimum in bounds
    ]


def _latency(found: Mapping[str, Load], skipped: Mapping[str, str]) -> list[Limit]:
    """99th percentile of the site divided by that of FastAPI, Django and DRF.

    The bare Django views read no data, so only the site on SQLite is compared with them.
    """
    peers_by_site = {SITE_SQLITE: (FASTAPI, *BARE, *DRF), SITE_POSTGRESQL: (FASTAPI, *DRF)}
    return [
        Limit(
            f"{ours} / {peer}, 99th percentile",
            found[ours].p99 / found[peer].p99 if peer in found else None,
            maximum=1.0,
            skip_reason=skipped.get(peer, ""),
        )
        for ours, peers in peers_by_site.items()
        for peer in peers
    ]


def _plot(found: dict[str, Load]) -> Plot:
    baseline = FASTAPI if FASTAPI in found else min(found)
    ratios = {name: one.per_second / found[baseline].per_second for name, one in found.items()}
    title = f"Cached reads per second, relative to {baseline}"
    svg = plot.bars(title, ratios, ours=(SITE_SQLITE, SITE_POSTGRESQL), unit=" ×")
    return Plot("bench-cached.svg", title, svg)
