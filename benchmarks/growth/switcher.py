"""Switches one Django process between datasets of the same engine."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from audit.log.verify import verify_log
from benchmarks.dataset.config import Dataset
from benchmarks.growth.operations import Operations, Seconds
from verdicts.results import read_counter

OperationsByName = dict[str, Callable[[int], Seconds]]


class DatasetSwitcher:
    def __init__(self, datasets: list[Dataset]) -> None:
        self.datasets = datasets
        # Never flush: buffered counts would be written to the next dataset.
        read_counter.FLUSH_INTERVAL, read_counter.MAX_UNWRITTEN = 10.0**9, 10**9  # type: ignore[misc]  # final for others
        self._operations: dict[int, OperationsByName] = {}

    def enter(self, dataset: Dataset) -> OperationsByName:
        """Connect to this dataset; returns the operations to measure, by name."""
        read_counter.hits.discard()
        connection.close()
        name = urlsplit(dataset.database_url).path
        connection.settings_dict["NAME"] = name.removeprefix("/")
        settings.ORACLE_LOG_PATH = Path(dataset.log_path)
        if dataset.orders not in self._operations:
            self._operations[dataset.orders] = self._prepare(dataset)
        return self._operations[dataset.orders]

    def verify(self) -> int:
        """Verify the whole log; returns its number of lines."""
        found = verify_log()
        if found.first:
            raise AssertionError(str(found.first))
        return found.lines

    def _prepare(self, dataset: Dataset) -> OperationsByName:
        client = Client(headers={"host": "127.0.0.1"})
        staff, _ = User.objects.get_or_create(
            username="grace", defaults={"is_staff": True, "is_superuser": True}
        )
        client.force_login(staff)
        operations = Operations(dataset.orders, client)
        return {
            "cached read": operations.cached_read,
            "miss": operations.miss,
            "comparison": operations.comparison,
            "webhook": operations.webhook,
            "order by email": operations.page("/admin/verdicts/order/?q=Buyer77@example.com"),
            "home": operations.page("/admin/?days=90"),
            "review queue": operations.page("/admin/verdicts/case/"),
            "orders": operations.page("/admin/verdicts/order/"),
            "metrics": operations.metrics,
            "divergence_report": operations.report,
        }
