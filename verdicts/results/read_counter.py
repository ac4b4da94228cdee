"""Reads, from the cache or not: counted in memory, written in batches, so that none costs a write.

A batch is one row, to be added to orders and days (`reads`): by ourselves when there
is little to do, else by the sweep. A process that is killed loses the counts of its
last seconds, and nothing else.
"""

import atexit
import logging
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from django.db import Error, connection

from verdicts.models import ReadBatch
from verdicts.results import read_rollup

logger = logging.getLogger(__name__)

FLUSH_INTERVAL: Final = 5.0  # seconds
MAX_UNWRITTEN: Final = (
    5_000  # hits that are worth a write before that: readers wait while they are written
)
PORTION: Final = 1000  # verdicts in one batch
BATCHES: Final = 10  # that a web process adds up at a time


class Hits:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()
        self._writing = threading.Lock()

    def _forget(self) -> None:
        # A number for each hit, and no more: that is all there is time for while one is served.
        self._fresh = array("q")
        self._unwritten: Counter[int] = Counter()
        self._others: Counter[str] = Counter()
        self._timer: threading.Timer | None = None
        self._hurries = False

    def count(self, *verdict_ids: int) -> None:
        """Answers from the cache, with these verdicts: each is one more."""
        with self._lock:
            self._fresh.extend(verdict_ids)
            if self._timer is None:
                self._start(FLUSH_INTERVAL, self.flush)
            if len(self._fresh) >= MAX_UNWRITTEN and not self._hurries:
                self._hurry()

    def count_other(self, outcome: str) -> None:
        """One more read that the cache had no answer for, by what the reader got."""
        with self._lock:
            self._others[outcome] += 1
            if self._timer is None:
                self._start(FLUSH_INTERVAL, self.flush)

    def stop(self) -> None:
        """Write everything: also what somebody else is writing, and what they had to put back."""
        with self._writing:
            self.flush()

    def flush(self) -> int:
        """Write what was counted and add it up; returns how many hits were written."""
        if not self._fresh and not self._unwritten and not self._others:
            return 0
        written = self._write()
        try:
            read_rollup.add_up(most=BATCHES)
        except Error as error:
            logger.warning("reads cannot be added up now: %s", type(error).__name__)
        return written

    def _write(self) -> int:
        """What cannot be written now is kept."""
        with self._lock:
            fresh, verdicts, others = self._fresh, self._unwritten, self._others
            self._forget()
        verdicts.update(fresh)
        try:
            ReadBatch.objects.bulk_create(list(_batches(verdicts, others)))
        except Error as error:
            logger.warning("hits cannot be counted now: %s", type(error).__name__)
            with self._lock:
                self._unwritten.update(verdicts)
                self._others.update(others)
                self._hurries = True  # or rather has tried: the next try has its time
            return 0
        return verdicts.total()

    def forget(self) -> None:
        """Drop what was counted, and the timer with it."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._forget()

    def _hurry(self) -> None:
        """Written at once, and left to the sweep: whoever serves so much has better to do."""
        self._hurries = True
        if self._timer:
            self._timer.cancel()
        self._start(0, self._write)

    def _start(self, seconds: float, then: Callable[[], int]) -> None:
        self._timer = threading.Timer(seconds, self._apart, [then])
        self._timer.daemon = True
        self._timer.start()

    def _apart(self, write: Callable[[], int]) -> None:
        try:
            with self._writing:  # whoever hurries waits for whoever writes
                write()
        finally:
            connection.close()  # this thread's own, and the thread ends


def _batches(verdicts: Counter[int], others: Counter[str]) -> Iterator[ReadBatch]:
    """So small that whoever adds one up keeps nobody else waiting for long."""
    counted = iter(verdicts.items())
    while portion := dict(islice(counted, PORTION)):
        yield ReadBatch(verdicts=portion)
    if others:
        yield ReadBatch(others=others)


hits = Hits()
atexit.register(hits.stop)
