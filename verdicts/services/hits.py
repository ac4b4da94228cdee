"""Reads, from the cache or not: counted in memory, written in batches, so that none costs a write.

A process that is killed loses the counts of its last seconds, and nothing else.
"""

import atexit
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Final

from django.db import Error, connection, transaction
from django.utils import timezone

from audit.models import DayCount
from verdicts.models import Order

logger = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds
MOST: Final = 2000  # sessions that are worth a flush before that: the counts take memory
PORTION: Final = 1000  # sessions in one transaction
_ADD: Final = "UPDATE verdicts_order SET hits = hits + %s, last_read_at = %s WHERE session_id = %s"


class Hits:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._timer: threading.Timer | None = None
        self._writing = threading.Lock()

    def count(self, session_id: str) -> None:
        """One more answer from the cache."""
        with self._lock:
            self._counted[session_id] += 1
            self._flush_later()
            if len(self._counted) == MOST:
                self._hurry()

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
        written = 0
        try:
            for some in _portions(counted):
                with transaction.atomic():
                    write(some)
                written += some.total()
                for session_id in some:
                    del counted[session_id]
            with transaction.atomic():
                _write_others(others)
            others = Counter()
        except Error as error:
            logger.warning("hits cannot be counted now: %s", type(error).__name__)
            with self._lock:
                self._counted.update(counted)
                self._others.update(others)
        return written

    def forget(self) -> None:
        """Drop what was counted, and the timer with it."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._counted, self._others, self._timer = Counter(), Counter(), None

    def _flush_later(self) -> None:
        if self._timer is None:
            self._start(EVERY)

    def _hurry(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._start(0)

    def _start(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._flush_and_close)
        self._timer.daemon = True
        self._timer.start()

    def _flush_and_close(self) -> None:
        try:
            with self._writing:  # whoever hurries waits for whoever writes
                self.flush()
        finally:
            connection.close()  # this thread's own, and the thread ends


def _portions(counted: Counter[str]) -> Iterator[Counter[str]]:
    """So many at a time that nobody else waits long to write.

    In one order everywhere, so that two processes cannot wait for each other.
    """
    ordered = sorted(counted.items())
    for start in range(0, len(ordered), PORTION):
        yield Counter(dict(ordered[start : start + PORTION]))


def write(counted: Counter[str]) -> None:
    now = timezone.now()
    at = connection.ops.adapt_datetimefield_value(now)
    # One statement for all of them: the ORM would take longer than the reads did.
    with connection.cursor() as cursor:
        rows = [(number, at, session_id) for session_id, number in counted.items()]
        cursor.executemany(_ADD, rows)
    smoke = Order.objects.filter(smoke=True, session_id__in=[*counted])
    tested = sum(counted[one] for one in smoke.values_list("session_id", flat=True) if one)
    if counted.total() > tested:
        DayCount.add(now.date(), DayCount.HIT, by=counted.total() - tested)


def _write_others(others: Counter[str]) -> None:
    today = timezone.now().date()
    for outcome, number in sorted(others.items()):
        DayCount.add(today, DayCount.READ, key=outcome, by=number)


hits = Hits()
atexit.register(hits.flush)
