"""Counts reads in memory and writes them in batches, so that a read costs no write.

A batch is one row that `read_rollup` adds to orders and days: by this process while it is idle,
else by the sweep. A process that is killed loses the counts of its last seconds, nothing else.
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
MAX_UNWRITTEN: Final = 5_000  # hits that cause a write before that
PORTION: Final = 1000  # verdicts in one batch
BATCHES: Final = 10  # that a web process adds up at a time


class ReadCounter:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reset()
        self._writing = threading.Lock()

    def _reset(self) -> None:
        # One number per hit: anything more would slow down serving it.
        self._fresh = array("q")
        self._unwritten: Counter[int] = Counter()
        self._others: Counter[str] = Counter()
        self._timer: threading.Timer | None = None
        self._flushing_early = False

    def count(self, *verdict_ids: int) -> None:
        """Count one cache hit for each of these verdicts."""
        with self._lock:
            self._fresh.extend(verdict_ids)
            if self._timer is None:
                self._start(FLUSH_INTERVAL, self.flush)
            if len(self._fresh) >= MAX_UNWRITTEN and not self._flushing_early:
                self._flush_early()

    def count_other(self, outcome: str) -> None:
        """Count one read that was no cache hit, by its outcome."""
        with self._lock:
            self._others[outcome] += 1
            if self._timer is None:
                self._start(FLUSH_INTERVAL, self.flush)

    def stop(self) -> None:
        """Write everything, also counts that another thread is writing."""
        with self._writing:
            self.flush()

    def flush(self) -> int:
        """Write what was counted and roll it up; returns how many hits were written."""
        if not self._fresh and not self._unwritten and not self._others:
            return 0
        written = self._write()
        try:
            read_rollup.add_up(most=BATCHES)
        except Error as error:
            logger.warning("reads cannot be rolled up now: %s", type(error).__name__)
        return written

    def _write(self) -> int:
        """Counts that cannot be written now are kept."""
        with self._lock:
            fresh, verdicts, others = self._fresh, self._unwritten, self._others
            self._reset()
        verdicts.update(fresh)
        try:
            ReadBatch.objects.bulk_create(list(_batches(verdicts, others)))
        except Error as error:
            logger.warning("hits cannot be counted now: %s", type(error).__name__)
            with self._lock:
                self._unwritten.update(verdicts)
                self._others.update(others)
                self._flushing_early = True  # until the next regular flush
            return 0
        return verdicts.total()

    def discard(self) -> None:
        """Drop all counts, and the timer with them."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._reset()

    def _flush_early(self) -> None:
        """Write at once and leave the roll-up to the sweep: this process is busy."""
        self._flushing_early = True
        if self._timer:
            self._timer.cancel()
        self._start(0, self._write)

    def _start(self, seconds: float, then: Callable[[], int]) -> None:
        self._timer = threading.Timer(seconds, self._run_in_thread, [then])
        self._timer.daemon = True
        self._timer.start()

    def _run_in_thread(self, write: Callable[[], int]) -> None:
        try:
            with self._writing:  # one writer at a time
                write()
        finally:
            connection.close()  # of this thread, which ends


def _batches(verdicts: Counter[int], others: Counter[str]) -> Iterator[ReadBatch]:
    """Small batches: rolling one up locks its orders only briefly."""
    counted = iter(verdicts.items())
    while portion := dict(islice(counted, PORTION)):
        yield ReadBatch(verdicts=portion)
    if others:
        yield ReadBatch(others=others)


hits = ReadCounter()
atexit.register(hits.stop)
