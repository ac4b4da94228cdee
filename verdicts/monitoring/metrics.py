"""All metrics in Prometheus's text format, read from the database and cached for a few seconds.

A scraper whose interval is longer than `CACHE_TTL` never sees a counter fall, whichever process
answers it.
"""

import threading
import time
from collections.abc import Iterator
from typing import Final

from prometheus_client import generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from verdicts.monitoring.counters import collect_counters
from verdicts.monitoring.gauges import collect_gauges

CACHE_TTL: Final = 5.0  # seconds
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class DatabaseCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from collect_counters()
        yield from collect_gauges()


class MetricsCache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = b""
        self._expires_at = 0.0

    def text(self) -> bytes:
        # Single-flight: concurrent scrapes cause one set of queries.
        with self._lock:
            if time.monotonic() >= self._expires_at:
                self._text = generate_latest(DatabaseCollector())
                self._expires_at = time.monotonic() + CACHE_TTL
            return self._text

    def clear(self) -> None:
        with self._lock:
            self._expires_at = 0.0


metrics_cache = MetricsCache()
