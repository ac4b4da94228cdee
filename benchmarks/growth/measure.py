"""`python -m benchmarks.growth.measure HOUSES RESULT`: houses on one kind of database, in turns.

HOUSES is a JSON file of `places.Place`s, smallest first; RESULT is where the
medians go. Its own process, since Django has one kind of database for good.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import django

from benchmarks.growth.places import Place, production
from benchmarks.progress import Progress

ROUNDS: Final = 5
BY_KEY: Final = ("cached read", "miss", "comparison", "webhook")
# How often in a round, so that each takes about as long.
TURNS: Final = {
    "cached read": 1_500,
    "miss": 25,
    "comparison": 25,
    "webhook": 40,
    "order by email": 6,
    "home": 6,
    "review queue": 6,
    "orders": 6,
    "metrics": 6,
    "divergence_report": 6,
}


def main(houses: Path, result: Path) -> None:
    places = [Place(**one) for one in json.loads(houses.read_text())]
    os.environ |= production(places[0])
    django.setup()
    # Models can be imported only now.
    from benchmarks.growth.move import Houses  # noqa: PLC0415 - Django is set up by now

    moving = Houses(places)
    with Progress("measuring growth") as progress:
        took = in_turns(moving, progress)
        verified = {place.orders: verify(moving, place, progress) for place in places}
    result.write_text(json.dumps({"seconds": took, "lines_per_second": verified}))


def in_turns(houses: Any, progress: Progress) -> dict[str, dict[int, float]]:
    """The median of five medians, for each piece of work and each house."""
    found: dict[str, dict[int, list[float]]] = {name: {} for name in TURNS}
    done, total = 0, (ROUNDS + 1) * len(houses.places) * len(TURNS)
    for round_number in range(ROUNDS + 1):
        for place in houses.places:
            work: dict[str, Callable[[int], Sequence[float]]] = houses.enter(place)
            for name, turns in TURNS.items():
                median = statistics.median(work[name](turns))
                if round_number:  # the first warms up
                    found[name].setdefault(place.orders, []).append(median)
                done += 1
                progress.share(done, total)
    return {
        name: {orders: statistics.median(each) for orders, each in sizes.items()}
        for name, sizes in found.items()
    }


def verify(houses: Any, place: Place, progress: Progress) -> float:
    """Lines that `audit_verify` reads in a second."""
    houses.enter(place)
    progress.say(f"audit_verify, {place.orders:,} orders")
    started = time.perf_counter()
    lines = houses.verify()
    return float(lines / (time.perf_counter() - started))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
