"""`python -m benchmarks.growth.measure DATASETS RESULT`: measure datasets of one engine in turns.

DATASETS is a JSON file of `config.Dataset`s, smallest first; the medians are written to
RESULT. A process of its own, since Django cannot change the database engine at runtime.
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

from benchmarks.dataset.config import Dataset, production_env
from benchmarks.progress import ProgressBar

ROUNDS: Final = 5
VERIFICATIONS: Final = 3  # each reads the whole log
INDEXED: Final = ("cached read", "miss", "comparison", "webhook", "order by email")
# Repetitions per round, chosen so that every operation takes about equally long in total.
REPETITIONS: Final = {
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


def main(datasets_file: Path, result: Path) -> None:
    datasets = [Dataset(**one) for one in json.loads(datasets_file.read_text())]
    os.environ |= production_env(datasets[0])
    django.setup()
    call_command("collectstatic", interactive=False, verbosity=0)  # as the web unit does
    # Imports models, so only after django.setup().
    from benchmarks.growth.switcher import DatasetSwitcher  # noqa: PLC0415 - Django is set up by now

    switcher = DatasetSwitcher(datasets)
    with ProgressBar("growth") as bar:
        seconds = measure_operations(switcher, bar)
        verified = measure_verification(switcher, bar)
    result.write_text(json.dumps({"seconds": seconds, "lines_per_second": verified}))


def measure_operations(switcher: Any, bar: ProgressBar) -> dict[str, dict[int, float]]:
    """Seconds per operation and dataset size: the median of the rounds' medians."""
    medians: dict[str, dict[int, list[float]]] = {name: {} for name in REPETITIONS}
    done, total = 0, (ROUNDS + 1) * len(switcher.datasets) * len(REPETITIONS)
    for round_number in range(ROUNDS + 1):
        for dataset in switcher.datasets:
            operations: dict[str, Callable[[int], Sequence[float]]] = switcher.enter(dataset)
            for name, repetitions in REPETITIONS.items():
                median = statistics.median(operations[name](repetitions))
                if round_number:  # the first round is a warm-up
                    medians[name].setdefault(dataset.orders, []).append(median)
                done += 1
                bar.update(done, total)
    return {
        name: {orders: statistics.median(each) for orders, each in sizes.items()}
        for name, sizes in medians.items()
    }


def measure_verification(switcher: Any, bar: ProgressBar) -> dict[int, float]:
    """Lines per second of `audit_verify`, the median of three runs per dataset."""
    rates: dict[int, list[float]] = {dataset.orders: [] for dataset in switcher.datasets}
    for _ in range(VERIFICATIONS):
        for dataset in switcher.datasets:
            switcher.enter(dataset)
            bar.describe(f"audit_verify, {dataset.orders:,} orders")
            started = time.perf_counter()
            lines = switcher.verify()
            rates[dataset.orders].append(lines / (time.perf_counter() - started))
    return {orders: statistics.median(each) for orders, each in rates.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
