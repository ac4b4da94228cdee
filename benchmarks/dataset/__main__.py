"""`python -m benchmarks.dataset ORDERS`: fill a new database, to look at a house that has grown."""

import argparse
import os
import sys
import time

import django
from django.core.management import call_command

from benchmarks.progress import Progress


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dataset",
        description=(
            "Fill the database that DATABASE_URL names, and the log at ORACLE_LOG_PATH, with "
            "orders and all that becomes of them. Both must be new: nothing is overwritten."
        ),
    )
    parser.add_argument("orders", type=int)
    parser.add_argument("--days", type=int, default=90, help="that they are spread over (90)")
    parser.add_argument(
        "--history", type=int, default=0, help="days that the figures go back, where that is more"
    )
    options = parser.parse_args()
    if options.orders < 1 or options.days < 1:
        parser.error("at least one order and one day")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    # Models can be imported only now.
    from benchmarks.dataset.fill import NotEmpty, fill  # noqa: PLC0415 - Django is set up by now

    started = time.perf_counter()
    try:
        with Progress("filling") as progress:
            fill(
                options.orders,
                days=options.days,
                history=options.history,
                tick=progress.share,
            )
    except NotEmpty as error:
        sys.stderr.write(f"{error}\n")
        return 1
    took = time.perf_counter() - started
    print(f"{options.orders:,} orders in {took:.0f} s, {options.orders / took:,.0f} a second.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
