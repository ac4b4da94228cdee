"""`make bench`: run the benchmarks and write docs/BENCHMARKS.md."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from benchmarks import console, gate, log_append, order_latency, regeneration, startup
from benchmarks.cached import mixed_load, throughput, under_load
from benchmarks.dataset.datasets import Datasets, open_datasets
from benchmarks.growth import section as growth
from benchmarks.machine import is_installed
from benchmarks.page import render_page, write_page
from benchmarks.report import Limit, Section, as_text, summary_line
from benchmarks.servers import ROOT

PAGE: Final = ROOT / "docs/BENCHMARKS.md"
# Not in any package index; without one of them some limits cannot be measured.
PROGRAMS: Final = ("wrk", "nginx", "redis-server", "node")
Benchmark = Callable[[Datasets, argparse.Namespace], Section]


def main() -> int:
    options = parse_arguments()
    # SIGTERM raises KeyboardInterrupt, so that context managers stop their servers.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = datetime.now(UTC)
    sections = []
    folder = tempfile.TemporaryDirectory(
        prefix="oracle-bench-", dir=options.folder, ignore_cleanup_errors=True
    )
    with folder as name, open_datasets(Path(name)) as datasets:
        for part in options.only or PARTS:
            for benchmark in PARTS[part]:
                section = benchmark(datasets, options)
                sections.append(section)
                print(as_text(section), flush=True)
        postgresql = datasets.server_version
    target = options.out or (None if options.only else PAGE)
    if target:
        write_page(target, render_page(sections, began=began, postgresql=postgresql), sections)
        print(f"Written: {target}")
    return print_summary([limit for section in sections for limit in section.limits])


def print_summary(limits: Sequence[Limit]) -> int:
    """Print every limit that was not met and what to install; returns the exit code."""
    for limit in limits:
        if not limit.is_measured:
            print(f"NOT MEASURED: {limit.name}: {limit.skip_reason}")
        elif not limit.is_met:
            print(f"MISSED: {limit.name}: {limit.measured}, {limit.required}")
    missing = [program for program in PROGRAMS if not is_installed(program)]
    if missing and not all(limit.is_measured for limit in limits):
        print(f"To measure every limit, install: {', '.join(missing)}.")
    print(summary_line(limits))
    return int(not all(limit.is_met for limit in limits))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench",
        description=(
            "Run all benchmarks, compared with their peers, and write docs/BENCHMARKS.md. Exit "
            "code 1: a limit was missed or could not be measured. Requires wrk, nginx, "
            "redis-server and node; without one of them, everything else is still measured. "
            "Takes about 30 minutes and 30 GB of disk on an idle machine with two cores."
        ),
        epilog='make bench ARGS="--only cached" runs one part; it writes a page only with --out.',
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PARTS,
        metavar="PART",
        help="run these parts, in this order: judgement (the gate), record (the log), walk "
        "(payment to email), regeneration, startup, growth, console, cached",
    )
    parser.add_argument(
        "--sizes",
        type=parse_sizes,
        default=growth.SIZES,
        metavar="N,N,N",
        help="orders per dataset of the part growth (10000,100000,1000000)",
    )
    parser.add_argument(
        "--orders",
        type=int,
        default=throughput.ORDERS,
        help="orders in the dataset of the part cached (100000)",
    )
    parser.add_argument(
        "--before",
        default="",
        metavar="REVISION",
        help="also measure cached reads under mixed load with this git revision's server (0.1.0 "
        "or earlier, with the same migrations as now)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page to this file")
    parser.add_argument("--folder", type=Path, help="parent folder of the temporary databases")
    return parser.parse_args()


def parse_sizes(text: str) -> Sequence[int]:
    sizes = [int(size) for size in text.split(",")]
    if len(sizes) < 2 or sizes != sorted(set(sizes)):
        raise argparse.ArgumentTypeError("at least two sizes, in ascending order")
    return sizes


def run_isolated(run: Callable[..., Section], *arguments: Any) -> Section:
    """Run in a process of its own: Django can be set up only once per process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(run, *arguments).result()


def without_dataset(run: Callable[[], Section]) -> Benchmark:
    return lambda _datasets, _options: run_isolated(run)


def run_console(datasets: Datasets, options: argparse.Namespace) -> Section:
    full = datasets.filled("PostgreSQL", options.sizes[-1])
    return run_isolated(console.run, full.dataset, datasets.empty("PostgreSQL"))


PARTS: Final[dict[str, Sequence[Benchmark]]] = {
    "judgement": [without_dataset(gate.run)],
    "record": [without_dataset(log_append.run)],
    "walk": [without_dataset(order_latency.run)],
    "regeneration": [without_dataset(regeneration.run)],
    "startup": [without_dataset(startup.run)],
    "growth": [lambda datasets, options: growth.run(datasets, options.sizes)],
    "console": [run_console],
    "cached": [
        lambda datasets, options: throughput.run(datasets, options.orders),
        lambda datasets, options: mixed_load.run(datasets, options.orders, options.before),
        lambda datasets, options: under_load.run(datasets, options.orders),
    ],
}


if __name__ == "__main__":
    sys.exit(main())
