"""Home and every list of the console with a million orders, beside the same pages with none.

`python -m benchmarks.console [orders]`, on a throwaway PostgreSQL. A page passes
with a median under 300 ms and at most three times what it takes when empty.
"""

import os
import statistics
import sys
import time
from datetime import timedelta

import django
from django.core.management import call_command
from django.utils import timezone

from tests.everything import postgresql

ORDERS = 1_000_000
ROUNDS = 5
EACH = 3  # answers in a round
EMPTY = "empty"
LIMIT_MS = 300.0
RATIO = 3.0
PAGES = {
    "home, 90 days": "/admin/?days=90",
    "review queue": "/admin/verdicts/case/",
    "closed cases": "/admin/verdicts/case/?standing=closed",
    "orders": "/admin/verdicts/order/",
    "orders, page 400": "/admin/verdicts/order/?p=400",
    "orders, failed": "/admin/verdicts/order/?status__exact=failed",
    "orders, held": "/admin/verdicts/order/?status__exact=held",
    "orders, smoke tests": "/admin/verdicts/order/?smoke__exact=1",
    "orders, by email": "/admin/verdicts/order/?q=Buyer77@example.com",
    "orders, by fingerprint": "/admin/verdicts/order/?q=28dd2c795537",
    "comparisons": "/admin/audit/divergenceevent/",
    "comparisons, minor": "/admin/audit/divergenceevent/?level__exact=minor",
    "crosschecks": "/admin/audit/crosschecklog/",
    "passed with flags": "/admin/audit/crosschecklog/?flagged__exact=1",
    "verdicts": "/admin/verdicts/verdict/",
    "emails": "/admin/verdicts/delivery/",
    "emails, failed": "/admin/verdicts/delivery/?state__exact=failed",
    "model calls": "/admin/audit/modelcall/",
    "model calls, busy": "/admin/audit/modelcall/?outcome__exact=busy",
    "stripe events": "/admin/verdicts/stripeevent/",
    "log": "/admin/audit/logentry/",
    "actions": "/admin/audit/action/",
}


def main(orders: int) -> int:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "oracle_site.settings",
        "DEBUG": "0",  # as in production
        "ORACLE_ALLOW_SANDBOX": "1",
        "SECRET_KEY": "only-for-this-benchmark-" * 3,
    }
    with postgresql() as url:
        os.environ["DATABASE_URL"] = url
        django.setup()
        call_command("migrate", verbosity=0)
        return measure(orders)


def measure(orders: int) -> int:
    # Django comes first.
    from django.contrib.auth.models import User  # noqa: PLC0415 - Django is set up by now
    from django.db import connection  # noqa: PLC0415 - Django is set up by now
    from django.test import Client  # noqa: PLC0415 - Django is set up by now

    from benchmarks.console_rows import fill  # noqa: PLC0415 - Django is set up by now

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.create_superuser("ada"))
    full = connection.settings_dict["NAME"]
    copy_of(full)
    started = time.perf_counter()
    fill(orders)
    count_days()
    print(f"{orders:,} orders written in {time.perf_counter() - started:.0f} s\n")
    print(f"{'page':24} {'empty':>9} {'full':>9} {'ratio':>6}")
    failed = 0
    for name, page in PAGES.items():
        took = {EMPTY: list[float](), full: list[float]()}
        # In turns: whatever else the machine does meanwhile slows both.
        for _ in range(ROUNDS):
            for database, times in took.items():
                use(database)
                times.extend(answers(client, page))
        empty_ms, full_ms = statistics.median(took[EMPTY]), statistics.median(took[full])
        ratio = full_ms / empty_ms
        fine = full_ms < LIMIT_MS and ratio <= RATIO
        failed += not fine
        mark = "" if fine else "  TOO SLOW"
        print(f"{name:24} {empty_ms:6.0f} ms {full_ms:6.0f} ms {ratio:6.1f}{mark}", flush=True)
    connection.close()
    return int(bool(failed))


def copy_of(full: str) -> None:
    """The same house before its first order, its staff logged in."""
    from django.db import connection  # noqa: PLC0415 - Django is set up by now

    use("postgres")
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{EMPTY}" TEMPLATE "{full}"')
    use(full)


def use(database: str) -> None:
    from django.db import connection  # noqa: PLC0415 - Django is set up by now

    connection.close()
    connection.settings_dict["NAME"] = database


def count_days() -> None:
    """As the sweep has, day by day."""
    from verdicts.services.figures import roll_up  # noqa: PLC0415 - Django is set up by now

    for back in range(91):
        roll_up(timezone.now().date() - timedelta(days=back))


def answers(client: object, page: str) -> list[float]:
    """Milliseconds of some answers, after one that opens the connection."""
    taken = []
    for _ in range(1 + EACH):
        started = time.perf_counter()
        response = client.get(page, secure=True)  # type: ignore[attr-defined]  # Django's test client
        taken.append((time.perf_counter() - started) * 1000)
        assert response.status_code == 200, (page, response.status_code)
    return taken[1:]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ORDERS))
