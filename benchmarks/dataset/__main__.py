"""`python -m benchmarks.dataset ORDERS`: fill a new database with that many orders."""

import argparse
import os
import sys
import time

import django
from django.core.management import call_command

from benchmarks.progress import ProgressBar


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dataset",
        description=(
            "Fill the database at DATABASE_URL and the log at ORACLE_LOG_PATH with orders and "
            "their full history. Both must be empty: nothing is overwritten."
        ),
    )
    parser.add_argument("orders", type=int)
    parser.add_argument(
        "--days", type=int, default=90, help="spread the orders over this many days (90)"
    )
    parser.add_argument(
        "--history", type=int, default=0, help="days of daily statistics, if more than --days"
    )
    options = parser.parse_args()
    if options.orders < 1 or options.days < 1:
        parser.error("ORDERS and --days must be at least 1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    # Imports models, so only after django.setup().
    from benchmarks.dataset.fill import NotEmpty, fill  # noqa: PLC0415 - Django is set up by now

    started = time.perf_counter()
    try:
        with ProgressBar("filling the database") as bar:
            fill(
                options.orders,
                days=options.days,
                history=options.history,
                report_progress=bar.update,
            )
    except NotEmpty as error:
        sys.stderr.write(f"{error}\n")
        return 1
    seconds = time.perf_counter() - started
    rate = options.orders / seconds
    print(f"{options.orders:,} orders in {seconds:.0f} s, {rate:,.0f} per second.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
