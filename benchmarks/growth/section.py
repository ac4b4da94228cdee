"""The growth table: fills the houses, has them measured, says what grew."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, Final

from benchmarks import plot
from benchmarks.datasets import KINDS, Houses, Kind
from benchmarks.growth.measure import BY_KEY
from benchmarks.machine import SERVER, on_core
from benchmarks.report import Limit, Picture, Section, Table, milliseconds
from benchmarks.servers import ROOT

SIZES: Final = (10_000, 100_000, 1_000_000)
MAX_RATIO: Final = 1.25
FASTEST: Final = 5_000.0  # orders a second into PostgreSQL, at least

ABOUT: Final = """
The same house at several sizes, all orders of it in the last ninety days, on one kind of database
at a time, held in memory: an order brings its event, model call, crosscheck, verdict, cached answer
of 2.4 KB, email and log line, and one in twenty a regeneration with its comparison. Who asks and
its database have one core, the model's stand-in has the other. All sizes are measured in turns,
five rounds after one that warms up; the figure is the median of the rounds' medians, and that of
`audit_verify`, which reads the whole log, the median of three runs. A miss is the whole request,
the model answering at once. What is found by its key must not take longer than 1.25 times as long
at the largest as at the smallest. Figures over time are added up from days that were counted
before, of which each house has as many as are ever kept.
""".strip()


def run(houses: Houses, sizes: Sequence[int] = SIZES) -> Section:
    section = Section("Growth", ABOUT)
    for kind in KINDS:
        filled = [houses.filled(kind, size) for size in sizes]
        found = _measured(houses, kind, sizes)
        section.tables.append(_table(kind, sizes, found))
        section.limits += _limits(kind, sizes, found["seconds"])
        section.pictures.append(_picture(kind, sizes, found["seconds"]))
        section.notes += houses.measured_on_disk()
        rate = sizes[-1] / filled[-1].seconds
        section.notes.append(f"Filling {kind} with {sizes[-1]:,} orders: {rate:,.0f} orders/s.")
        if kind == "PostgreSQL":
            what = "filling PostgreSQL, all rows of an order"
            section.limits.append(Limit(what, rate, least=FASTEST, unit=" orders/s"))
        else:
            houses.tear_down(kind, sizes[-1])
    return section


def _measured(houses: Houses, kind: Kind, sizes: Sequence[int]) -> dict[str, Any]:
    places, result = houses.folder / f"{kind}.json", houses.folder / f"{kind}-found.json"
    places.write_text(json.dumps([asdict(houses.filled(kind, size).place) for size in sizes]))
    command = [sys.executable, "-m", "benchmarks.growth.measure", str(places), str(result)]
    # All on one core: to wake a database on another takes longer than most of what it is asked.
    with houses.pinned() if kind == "PostgreSQL" else nullcontext(), on_core(SERVER):
        subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=True)
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _table(kind: Kind, sizes: Sequence[int], found: dict[str, Any]) -> Table:
    rows = []
    for name, taken in found["seconds"].items():
        figures = [taken[str(size)] for size in sizes]
        cells = [milliseconds(figure) for figure in figures]
        rows.append([name, *cells, f"{figures[-1] / figures[0]:.2f}"])
    read = [found["lines_per_second"][str(size)] for size in sizes]
    told = [f"{lines:,.0f} lines/s" for lines in read]
    rows.append(["audit_verify", *told, f"{read[0] / read[-1]:.2f}"])
    return Table(["", *(f"{size:,}" for size in sizes), "ratio"], rows, kind)


def _limits(kind: Kind, sizes: Sequence[int], taken: dict[str, Any]) -> list[Limit]:
    first, last = str(sizes[0]), str(sizes[-1])
    return [
        Limit(
            f"{kind}: {name}, largest / smallest", taken[name][last] / taken[name][first], MAX_RATIO
        )
        for name in BY_KEY
    ]


def _picture(kind: Kind, sizes: Sequence[int], taken: dict[str, Any]) -> Picture:
    series = {
        name: [sized[str(size)] / sized[str(sizes[0])] for size in sizes]
        for name, sized in taken.items()
    }
    says = f"{kind}: what each takes beside the smallest house"
    return Picture(f"bench-growth-{kind.lower()}.svg", says, plot.lines(says, sizes, series))
