"""Reads, from the cache or not: counted in memory, written in batches, so that none costs a write.

A process that is killed loses the counts of its last seconds, and nothing else.
"""

import atexit
import logging
import threading
from collections import Counter
from typing import Final

from django.db import Error, connection, transaction
from django.db.models import F
from django.utils import timezone

from audit.models import DayCount
from verdicts.models import Order

logger = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds


class Hits:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._timer: threading.Timer | None = None

    def count(self, session_id: str) -> None:
        """One more answer from the cache."""
        with self._lock:
            self._counted[session_id] += 1
            self._flush_later()

    def count_other(self, outcome: str) -> None:
        """One more read that the cache had no answer for, by what the reader got."""
        with self._lock:
            self._others[outcome] += 1
            self._flush_later()

    def flush(self) -> int:
        """Write what was counted, and tell how many hits; what cannot be written now is kept."""
        with self._lock:
            counted, self._counted, self._timer = self._counted, Counter(), None
            others, self._others = self._others, Counter()
        if not counted and not others:
            return 0
        try:
            with transaction.atomic():
                _write(counted)
                _write_others(others)
        except Error as error:
            logger.warning("hits cannot be counted now: %s", type(error).__name__)
            with self._lock:
                self._counted.update(counted)
                self._others.update(others)
            return 0
        return counted.total()

    def forget(self) -> None:
        """Drop what was counted, and the timer with it."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._counted, self._others, self._timer = Counter(), Counter(), None

    def _flush_later(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(EVERY, self._flush_and_close)
            self._timer.daemon = True
            self._timer.start()

    def _flush_and_close(self) -> None:
        try:
            self.flush()
        finally:
            connection.close()  # this thread's own, and the thread ends


def _write(counted: Counter[str]) -> None:
    now = timezone.now()
    of_customers = 0
    # In one order everywhere, so that two processes cannot wait for each other.
    for session_id, number in sorted(counted.items()):
        mine = Order.objects.filter(session_id=session_id)
        read = {"hits": F("hits") + number, "last_read_at": now}
        if mine.filter(smoke=False).update(**read) or not mine.filter(smoke=True).update(**read):
            of_customers += number
    if of_customers:
        DayCount.add(now.date(), DayCount.HIT, by=of_customers)


def _write_others(others: Counter[str]) -> None:
    today = timezone.now().date()
    for outcome, number in sorted(others.items()):
        DayCount.add(today, DayCount.READ, key=outcome, by=number)


hits = Hits()
atexit.register(hits.flush)
