"""Home and every list of the console in a large house, beside the same pages in an empty one.

A page passes with a median under 300 ms and at most three times what it takes when
empty. By itself, `python -m benchmarks.console [orders]`, it fills a throwaway PostgreSQL.
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

from benchmarks.dataset.past import random_hex
from benchmarks.datasets import houses
from benchmarks.growth.places import Place, production
from benchmarks.progress import Progress
from benchmarks.report import Limit, Section, Table, tell

ORDERS: Final = 1_000_000
ROUNDS: Final = 5
EACH: Final = 3  # answers in a round
MAX_MS: Final = 300.0
MAX_RATIO: Final = 3.0
PAGES: Final = {
    "home, 90 days": "/admin/?days=90",
    "review queue": "/admin/verdicts/case/",
    "closed cases": "/admin/verdicts/case/?standing=closed",
    "closed cases, none of a kind": "/admin/verdicts/case/?standing=closed&kind__exact=email",
    "orders": "/admin/verdicts/order/",
    "orders, far in": "/admin/verdicts/order/?p={far}",
    "orders, failed": "/admin/verdicts/order/?status__exact=failed",
    "orders, held": "/admin/verdicts/order/?status__exact=held",
    "orders, smoke tests": "/admin/verdicts/order/?smoke__exact=1",
    "orders, a tier": "/admin/verdicts/order/?tier__exact=strategy",
    "orders, a day": "/admin/verdicts/order/?paid_at_from={day}&paid_at_to={day}",
    "orders, by email": "/admin/verdicts/order/?q=Buyer77@example.com",
    "orders, by fingerprint": "/admin/verdicts/order/?q={fingerprint}",
    "comparisons": "/admin/audit/divergenceevent/",
    "comparisons, minor": "/admin/audit/divergenceevent/?level__exact=minor",
    "comparisons, a tier": "/admin/audit/divergenceevent/?tier__exact=quick",
    "comparisons, none of a cause": "/admin/audit/divergenceevent/?cause=config",
    "comparisons, skipped": "/admin/audit/divergenceevent/?level__exact=skipped",
    "crosschecks": "/admin/audit/crosschecklog/",
    "crosschecks, none for a reason": "/admin/audit/crosschecklog/?crosscheck_reason=gate_error",
    "passed with flags": "/admin/audit/crosschecklog/?flagged__exact=1",
    "verdicts": "/admin/verdicts/verdict/",
    "verdicts, none of a label": "/admin/verdicts/verdict/?label__exact=UNKNOWN",
    "verdicts, since a day": "/admin/verdicts/verdict/?created_at_from={day}",
    "emails": "/admin/verdicts/delivery/",
    "emails, none of a kind": "/admin/verdicts/delivery/?kind__exact=escalation",
    "emails, failed": "/admin/verdicts/delivery/?state__exact=failed",
    "model calls": "/admin/audit/modelcall/",
    "model calls, busy": "/admin/audit/modelcall/?outcome__exact=busy",
    "stripe events": "/admin/verdicts/stripeevent/",
    "stripe events, not yet processed": "/admin/verdicts/stripeevent/?waiting=1",
    "log": "/admin/audit/logentry/",
    "log, not yet in the file": "/admin/audit/logentry/?waiting=1",
    "actions": "/admin/audit/action/",
}
ABOUT: Final = """
The console's pages in the largest house, on PostgreSQL, beside the same pages in an empty one: in
turns, medians of fifteen answers each.
""".strip()


def run(full: Place, empty: Place) -> Section:
    """In a process of its own: it sets Django up."""
    os.environ |= production(full)
    django.setup()
    call_command("collectstatic", interactive=False, verbosity=0)  # as a start of the site does
    found = _measured(full, empty)
    rows = [
        [name, f"{before:.0f} ms", f"{after:.0f} ms", f"{after / before:.1f}"]
        for name, (before, after) in found.items()
    ]
    table = Table(["page", "empty", f"{full.orders:,} orders", "ratio"], rows)
    slowest, (_, most) = max(found.items(), key=lambda one: one[1][1])
    steepest, (few, many) = max(found.items(), key=lambda one: one[1][1] / one[1][0])
    limits = [
        Limit(f"the console's slowest page ({slowest})", most, MAX_MS, unit=" ms"),
        Limit(f"the page that grew most ({steepest}), full / empty", many / few, MAX_RATIO),
    ]
    return Section("The console", ABOUT, [table], limits)


def _measured(full: Place, empty: Place) -> dict[str, tuple[float, float]]:
    """Milliseconds in the empty and in the full house, for each page."""
    # Django comes first.
    from django.contrib.auth.models import User  # noqa: PLC0415 - Django is set up by now
    from django.test import Client  # noqa: PLC0415 - likewise

    clients: dict[Place, Any] = {}
    for place in (empty, full):
        _use(place)
        clients[place] = Client(headers={"host": "127.0.0.1"})
        staff, _ = User.objects.get_or_create(
            username="grace", defaults={"is_staff": True, "is_superuser": True}
        )
        clients[place].force_login(staff)
    places = {
        "far": min(400, full.orders // 200),
        "fingerprint": random_hex("text", 77)[:12],
        "day": (datetime.now(UTC) - timedelta(days=60)).date(),
    }
    found = {}
    with Progress("the console") as progress:
        for done, (name, page) in enumerate(PAGES.items()):
            progress.share(done, len(PAGES))
            took: dict[Place, list[float]] = {empty: [], full: []}
            # In turns: whatever else the machine does meanwhile slows both.
            for _ in range(ROUNDS):
                for place in (empty, full):
                    _use(place)
                    took[place] += _answers(clients[place], page.format(**places))
            found[name] = statistics.median(took[empty]), statistics.median(took[full])
    _use(full)
    return found


def _use(place: Place) -> None:
    from django.db import connection  # noqa: PLC0415 - Django is set up by now

    connection.close()
    connection.settings_dict["NAME"] = urlsplit(place.database).path.lstrip("/")


def _answers(client: Any, page: str) -> list[float]:
    """Milliseconds of some answers, after one that opens the connection."""
    taken = []
    for _ in range(1 + EACH):
        started = time.perf_counter()
        response = client.get(page, secure=True)
        taken.append((time.perf_counter() - started) * 1000)
        # A page beyond the last is answered with the first.
        assert response.status_code in (200, 302), (page, response.status_code)
    return taken[1:]


def main(orders: int) -> int:
    folder = tempfile.TemporaryDirectory(prefix="oracle-bench-")
    with folder as name, houses(Path(name)) as built:
        full = built.filled("PostgreSQL", orders).place
        return tell(run(full, built.empty("PostgreSQL")))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ORDERS))
