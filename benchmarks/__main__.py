"""`make bench`: every benchmark, one after another, and one page of what they found."""

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

from benchmarks import console, judgement, record, regeneration, startup, walk
from benchmarks.cached import crowded, pages
from benchmarks.cached import section as cached
from benchmarks.datasets import Houses, houses
from benchmarks.growth import section as growth
from benchmarks.machine import is_installed
from benchmarks.page import page, write
from benchmarks.report import Limit, Section, headline, in_text
from benchmarks.servers import ROOT

PAGE: Final = ROOT / "docs/BENCHMARKS.md"
# What no package index has; without one of them some limits cannot be measured.
PROGRAMS: Final = ("wrk", "nginx", "redis-server", "node")
Part = Callable[[Houses, argparse.Namespace], Section]


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no server is left running
    began = datetime.now(UTC)
    sections = []
    folder = tempfile.TemporaryDirectory(
        prefix="oracle-bench-", dir=options.folder, ignore_cleanup_errors=True
    )
    with folder as name, houses(Path(name)) as built:
        for part in options.only or PARTS:
            for measure in PARTS[part]:
                section = measure(built, options)
                sections.append(section)
                print(in_text(section), flush=True)
        postgresql = built.server_version
    target = options.out or (None if options.only else PAGE)
    if target:
        write(target, page(sections, began=began, postgresql=postgresql), sections)
        print(f"Written: {target}")
    return conclude([limit for section in sections for limit in section.limits])


def conclude(limits: Sequence[Limit]) -> int:
    """Tell what was not kept, and what would let the rest be measured; the exit code."""
    for limit in limits:
        if not limit.is_measured:
            print(f"NOT MEASURED: {limit.what}: {limit.why_not}")
        elif not limit.is_kept:
            print(f"MISSED: {limit.what}: {limit.shown}, {limit.promise}")
    missing = [program for program in PROGRAMS if not is_installed(program)]
    if missing and not all(limit.is_measured for limit in limits):
        print(f"To have everything measured, install: {', '.join(missing)}.")
    print(headline(limits))
    return int(not all(limit.is_kept for limit in limits))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench",
        description=(
            "Every benchmark with its peers; writes docs/BENCHMARKS.md. Exit code 1: a limit was "
            "missed, or could not be measured. wrk, nginx, redis-server and node have to be "
            "installed; without one of them everything else is measured all the same. "
            "On a quiet machine of two cores it takes about 30 minutes and 30 GB of disk."
        ),
        epilog='make bench ARGS="--only cached": a part of it; nothing is written without --out.',
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts, in this order")
    parser.add_argument(
        "--sizes",
        type=sizes,
        default=growth.SIZES,
        metavar="N,N,N",
        help="orders of the houses that growth is measured in (10000,100000,1000000)",
    )
    parser.add_argument(
        "--orders",
        type=int,
        default=cached.ORDERS,
        help="orders of the house that cached reads are measured in (100000)",
    )
    parser.add_argument(
        "--before",
        default="",
        metavar="REVISION",
        help="also measure cached reads beside busy pages of this revision's server (0.1.0 or "
        "earlier; its migrations must be today's)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the page is written")
    parser.add_argument("--folder", type=Path, help="where databases are built, for a while")
    return parser.parse_args()


def sizes(text: str) -> Sequence[int]:
    found = [int(size) for size in text.split(",")]
    if len(found) < 2 or found != sorted(set(found)):
        raise argparse.ArgumentTypeError("at least two sizes, the smallest first")
    return found


def apart(run: Callable[..., Section], *arguments: Any) -> Section:
    """In a process of its own, for what sets Django up."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as one:
        return one.submit(run, *arguments).result()


def simple(run: Callable[[], Section]) -> Part:
    return lambda _houses, _options: apart(run)


def the_console(built: Houses, options: argparse.Namespace) -> Section:
    full = built.filled("PostgreSQL", options.sizes[-1])
    return apart(console.run, full.place, built.empty("PostgreSQL"))


PARTS: Final[dict[str, Sequence[Part]]] = {
    "judgement": [simple(judgement.run)],
    "record": [simple(record.run)],
    "walk": [simple(walk.run)],
    "regeneration": [simple(regeneration.run)],
    "startup": [simple(startup.run)],
    "growth": [lambda built, options: growth.run(built, options.sizes)],
    "console": [the_console],
    "cached": [
        lambda built, options: cached.run(built, options.orders),
        lambda built, options: pages.run(built, options.orders, options.before),
        lambda built, options: crowded.run(built, options.orders),
    ],
}


if __name__ == "__main__":
    sys.exit(main())
