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
from django.core.management import call_command

from benchmarks.growth.places import Place, production
from benchmarks.progress import Progress

ROUNDS: Final = 5
VERIFICATIONS: Final = 3  # each reads the whole log
BY_KEY: Final = ("cached read", "miss", "comparison", "webhook", "order by email")
# How often in a round, so that each takes about as long.
TURNS: Final = {
    "cached read": 1_500,
    "miss": 25,
    "comparison": 25,
    "webhook": 40,
    "order by email": 20,
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
    call_command("collectstatic", interactive=False, verbosity=0)  # as a start of the site does
    # Models can be imported only now.
    from benchmarks.growth.move import Houses  # noqa: PLC0415 - Django is set up by now

    moving = Houses(places)
    with Progress("measuring growth") as progress:
        took = in_turns(moving, progress)
        verified = verified_in_turns(moving, progress)
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


def verified_in_turns(houses: Any, progress: Progress) -> dict[int, float]:
    """Lines that `audit_verify` reads in a second, the median of three runs in each house."""
    found: dict[int, list[float]] = {place.orders: [] for place in houses.places}
    for _ in range(VERIFICATIONS):
        for place in houses.places:
            houses.enter(place)
            progress.say(f"audit_verify, {place.orders:,} orders")
            started = time.perf_counter()
            lines = houses.verify()
            found[place.orders].append(lines / (time.perf_counter() - started))
    return {orders: statistics.median(each) for orders, each in found.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
