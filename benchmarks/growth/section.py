"""The part growth: fills the datasets, measures them and compares the smallest with the largest."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, Final

from benchmarks import plot
from benchmarks.dataset.datasets import ENGINES, Datasets, Engine
from benchmarks.growth.measure import INDEXED
from benchmarks.machine import SERVER_CORE, pinned_to_core
from benchmarks.report import Limit, Plot, Section, Table, milliseconds
from benchmarks.servers import ROOT

SIZES: Final = (10_000, 100_000, 1_000_000)
MAX_RATIO: Final = 1.25
MIN_FILL_RATE: Final = 5_000.0  # orders per second into PostgreSQL

DESCRIPTION: Final = """
The same dataset at several sizes, one database engine at a time, held in the page cache. All orders
are from the last ninety days. Each has an event, model call, crosscheck, verdict, cached response
of 2.4 KB, email and log line; one in twenty also has a regeneration with its comparison. The client
and its database share one core, the sandbox has the other. Sizes are interleaved in five rounds
after a warm-up; each result is the median of the rounds' medians, or of three runs for
`audit_verify`, which reads the whole log. A miss is the whole request, with a model that responds
at once. Operations that use an index may take at most 1.25 times as long with the largest dataset
as with the smallest. Statistics over time are summed from daily counts; each dataset has as many
days of them as are ever kept.
""".strip()


def run(datasets: Datasets, sizes: Sequence[int] = SIZES) -> Section:
    section = Section("Growth", DESCRIPTION)
    for engine in ENGINES:
        filled = [datasets.filled(engine, size) for size in sizes]
        found = _measure(datasets, engine, sizes)
        section.tables.append(_table(engine, sizes, found))
        section.limits += _limits(engine, sizes, found["seconds"])
        section.plots.append(_plot(engine, sizes, found["seconds"]))
        section.notes += datasets.disk_warnings()
        rate = sizes[-1] / filled[-1].fill_seconds
        section.notes.append(f"Filling {engine} with {sizes[-1]:,} orders: {rate:,.0f} orders/s.")
        if engine == "PostgreSQL":
            name = "filling PostgreSQL, all rows of an order"
            section.limits.append(Limit(name, rate, minimum=MIN_FILL_RATE, unit=" orders/s"))
        else:
            datasets.drop(engine, sizes[-1])
    return section


def _measure(datasets: Datasets, engine: Engine, sizes: Sequence[int]) -> dict[str, Any]:
    datasets_file, result = (
        datasets.folder / f"{engine}.json",
        datasets.folder / f"{engine}-found.json",
    )
    listed = [asdict(datasets.filled(engine, size).dataset) for size in sizes]
    datasets_file.write_text(json.dumps(listed))
    command = [sys.executable, "-m", "benchmarks.growth.measure", str(datasets_file), str(result)]
    # On the same core: waking a process on another core takes longer than most of the queries.
    with (
        datasets.postgresql_pinned() if engine == "PostgreSQL" else nullcontext(),
        pinned_to_core(SERVER_CORE),
    ):
        subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=True)
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _table(engine: Engine, sizes: Sequence[int], found: dict[str, Any]) -> Table:
    rows = []
    for name, seconds in found["seconds"].items():
        values = [seconds[str(size)] for size in sizes]
        cells = [milliseconds(value) for value in values]
        rows.append([name, *cells, f"{values[-1] / values[0]:.2f}"])
    rates = [found["lines_per_second"][str(size)] for size in sizes]
    cells = [f"{rate:,.0f} lines/s" for rate in rates]
    rows.append(["audit_verify", *cells, f"{rates[0] / rates[-1]:.2f}"])
    return Table(["", *(f"{size:,}" for size in sizes), "ratio"], rows, engine)


def _limits(engine: Engine, sizes: Sequence[int], seconds: dict[str, Any]) -> list[Limit]:
    first, last = str(sizes[0]), str(sizes[-1])
    return [
        Limit(
            f"{engine}: {name}, largest / smallest",
            seconds[name][last] / seconds[name][first],
            MAX_RATIO,
        )
        for name in INDEXED
    ]


def _plot(engine: Engine, sizes: Sequence[int], seconds: dict[str, Any]) -> Plot:
    series = {
        name: [sized[str(size)] / sized[str(sizes[0])] for size in sizes]
        for name, sized in seconds.items()
    }
    title = f"{engine}: latency relative to the smallest dataset"
    return Plot(f"bench-growth-{engine.lower()}.svg", title, plot.lines(title, sizes, series))
