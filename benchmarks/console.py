"""Latency of the console's home page and every list with a large dataset and with an empty one.

A page passes if its median is at most 300 ms and at most three times that of the empty
dataset. `python -m benchmarks.console [orders]` runs this alone, on a throwaway PostgreSQL.
"""

import os
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import django
from django.core.management import call_command

from benchmarks.dataset.config import Dataset, production_env
from benchmarks.dataset.datasets import open_datasets
from benchmarks.dataset.history import random_hex
from benchmarks.progress import ProgressBar
from benchmarks.report import Limit, Section, Table, print_report

ORDERS: Final = 1_000_000
ROUNDS: Final = 5
REQUESTS: Final = 3  # measured per page and round
MAX_MS: Final = 300.0
MAX_RATIO: Final = 3.0
PAGES: Final = {
    "home, 90 days": "/admin/?days=90",
    "review queue": "/admin/verdicts/case/",
    "closed cases": "/admin/verdicts/case/?standing=closed",
    "closed cases, kind without rows": "/admin/verdicts/case/?standing=closed&kind__exact=email",
    "orders": "/admin/verdicts/order/",
    "orders, deep page": "/admin/verdicts/order/?p={deep}",
    "orders, failed": "/admin/verdicts/order/?status__exact=failed",
    "orders, held": "/admin/verdicts/order/?status__exact=held",
    "orders, smoke tests": "/admin/verdicts/order/?smoke__exact=1",
    "orders, one tier": "/admin/verdicts/order/?tier__exact=strategy",
    "orders, one day": "/admin/verdicts/order/?paid_at_from={day}&paid_at_to={day}",
    "orders, by email": "/admin/verdicts/order/?q=Buyer77@example.com",
    "orders, by fingerprint": "/admin/verdicts/order/?q={fingerprint}",
    "comparisons": "/admin/audit/divergenceevent/",
    "comparisons, minor": "/admin/audit/divergenceevent/?level__exact=minor",
    "comparisons, one tier": "/admin/audit/divergenceevent/?tier__exact=quick",
    "comparisons, cause without rows": "/admin/audit/divergenceevent/?cause=config",
    "comparisons, skipped": "/admin/audit/divergenceevent/?level__exact=skipped",
    "crosschecks": "/admin/audit/crosschecklog/",
    "crosschecks, reason without rows": "/admin/audit/crosschecklog/?crosscheck_reason=gate_error",
    "passed with flags": "/admin/audit/crosschecklog/?flagged__exact=1",
    "verdicts": "/admin/verdicts/verdict/",
    "verdicts, label without rows": "/admin/verdicts/verdict/?label__exact=UNKNOWN",
    "verdicts, since a day": "/admin/verdicts/verdict/?created_at_from={day}",
    "emails": "/admin/verdicts/delivery/",
    "emails, kind without rows": "/admin/verdicts/delivery/?kind__exact=escalation",
    "emails, failed": "/admin/verdicts/delivery/?state__exact=failed",
    "model calls": "/admin/audit/modelcall/",
    "model calls, busy": "/admin/audit/modelcall/?outcome__exact=busy",
    "stripe events": "/admin/verdicts/stripeevent/",
    "stripe events, not yet processed": "/admin/verdicts/stripeevent/?waiting=1",
    "log": "/admin/audit/logentry/",
    "log, not yet in the file": "/admin/audit/logentry/?waiting=1",
    "actions": "/admin/audit/action/",
}
DESCRIPTION: Final = """
The console's pages on PostgreSQL with the largest dataset and with an empty one: interleaved
rounds, median of fifteen requests each.
""".strip()


def run(full: Dataset, empty: Dataset) -> Section:
    """Sets Django up, so it needs a process of its own."""
    os.environ |= production_env(full)
    django.setup()
    call_command(
        "collectstatic", interactive=False, verbosity=0
    )  # as the web unit does at start-up
    found = _measure(full, empty)
    rows = [
        [name, f"{before:.0f} ms", f"{after:.0f} ms", f"{after / before:.1f}"]
        for name, (before, after) in found.items()
    ]
    table = Table(["page", "empty", f"{full.orders:,} orders", "ratio"], rows)
    slowest, (_, slowest_ms) = max(found.items(), key=lambda one: one[1][1])
    steepest, (empty_ms, full_ms) = max(found.items(), key=lambda one: one[1][1] / one[1][0])
    limits = [
        Limit(f"slowest console page ({slowest})", slowest_ms, MAX_MS, unit=" ms"),
        Limit(f"largest ratio ({steepest}), full / empty", full_ms / empty_ms, MAX_RATIO),
    ]
    return Section("The console", DESCRIPTION, [table], limits)


def _measure(full: Dataset, empty: Dataset) -> dict[str, tuple[float, float]]:
    """Milliseconds with the empty and with the full dataset, for each page."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - Django is set up by now
    from django.test import Client  # noqa: PLC0415 - likewise

    clients: dict[Dataset, Any] = {}
    for dataset in (empty, full):
        _use(dataset)
        clients[dataset] = Client(headers={"host": "127.0.0.1"})
        staff, _ = User.objects.get_or_create(
            username="grace", defaults={"is_staff": True, "is_superuser": True}
        )
        clients[dataset].force_login(staff)
    parameters = {
        "deep": min(400, full.orders // 200),
        "fingerprint": random_hex("text", 77)[:12],
        "day": (datetime.now(UTC) - timedelta(days=60)).date(),
    }
    found = {}
    with ProgressBar("console pages") as bar:
        for done, (name, page) in enumerate(PAGES.items()):
            bar.update(done, len(PAGES))
            latencies: dict[Dataset, list[float]] = {empty: [], full: []}
            # Interleaved, so that other load on the machine affects both alike.
            for _ in range(ROUNDS):
                for dataset in (empty, full):
                    _use(dataset)
                    latencies[dataset] += _request(clients[dataset], page.format(**parameters))
            found[name] = statistics.median(latencies[empty]), statistics.median(latencies[full])
    _use(full)
    return found


def _use(dataset: Dataset) -> None:
    from django.db import connection  # noqa: PLC0415 - Django is set up by now

    connection.close()
    connection.settings_dict["NAME"] = urlsplit(dataset.database_url).path.lstrip("/")


def _request(client: Any, page: str) -> list[float]:
    """Milliseconds of each request, after one that opens the database connection."""
    latencies = []
    for _ in range(1 + REQUESTS):
        started = time.perf_counter()
        response = client.get(page, secure=True)
        latencies.append((time.perf_counter() - started) * 1000)
        # A page number beyond the last redirects to the first.
        assert response.status_code in (200, 302), (page, response.status_code)
    return latencies[1:]


def main(orders: int) -> int:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, open_datasets(Path(name)) as datasets:
        full = datasets.filled("PostgreSQL", orders).dataset
        return print_report(run(full, datasets.empty("PostgreSQL")))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ORDERS))
