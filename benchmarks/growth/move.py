"""One Django process that moves from house to house."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from audit.log.verify import verify_log
from benchmarks.growth.places import Place
from benchmarks.growth.work import Seconds, Turns
from verdicts.results import read_counter

Work = dict[str, Callable[[int], Seconds]]


class Houses:
    def __init__(self, places: list[Place]) -> None:
        self.places = places
        # Or they would be written into another house.
        read_counter.FLUSH_INTERVAL, read_counter.MAX_UNWRITTEN = 10.0**9, 10**9  # type: ignore[misc]  # final for others
        self._turns: dict[int, Work] = {}

    def enter(self, place: Place) -> Work:
        """From here on everything is about this house."""
        read_counter.hits.forget()
        connection.close()
        name = urlsplit(place.database).path
        is_sqlite = connection.vendor == "sqlite"
        connection.settings_dict["NAME"] = name[1:] if not is_sqlite else name.removeprefix("/")
        settings.ORACLE_LOG_PATH = Path(place.log)
        if place.orders not in self._turns:
            self._turns[place.orders] = self._work(place)
        return self._turns[place.orders]

    def verify(self) -> int:
        found = verify_log()
        if found.first:
            raise AssertionError(str(found.first))
        return found.lines

    def _work(self, place: Place) -> Work:
        client = Client(headers={"host": "127.0.0.1"})
        staff, _ = User.objects.get_or_create(
            username="grace", defaults={"is_staff": True, "is_superuser": True}
        )
        client.force_login(staff)
        turns = Turns(place.orders, client)
        return {
            "cached read": turns.cached_read,
            "miss": turns.miss,
            "comparison": turns.comparison,
            "webhook": turns.webhook,
            "order by email": turns.page("/admin/verdicts/order/?q=Buyer77@example.com"),
            "home": turns.page("/admin/?days=90"),
            "review queue": turns.page("/admin/verdicts/case/"),
            "orders": turns.page("/admin/verdicts/order/"),
            "metrics": turns.metrics,
            "divergence_report": turns.report,
        }
