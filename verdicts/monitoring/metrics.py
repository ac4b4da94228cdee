"""All metrics in Prometheus's text format, read from the database at most every few seconds.

Scrapes that come further apart than `KEPT_FOR` never see a counter fall,
whichever process answers them.
"""

import threading
import time
from collections.abc import Iterator
from typing import Final

from prometheus_client import generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from verdicts.monitoring.counters import totals
from verdicts.monitoring.gauges import now

KEPT_FOR: Final = 5.0  # seconds
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Everything(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from totals()
        yield from now()


class Exposition:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._text = b""
        self._until = 0.0

    def text(self) -> bytes:
        # One at a time: however many ask, the database is asked once.
        with self._lock:
            if time.monotonic() >= self._until:
                self._text = generate_latest(Everything())
                self._until = time.monotonic() + KEPT_FOR
            return self._text

    def forget(self) -> None:
        with self._lock:
            self._until = 0.0


exposition = Exposition()
