"""Reads, from the cache or not: counted in memory, written in batches, so that none costs a write.

A batch is one row, to be added to orders and days (`reads`): by ourselves when there
is little to do, else by the sweep. A process that is killed loses the counts of its
last seconds, and nothing else.
"""

import atexit
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Final

from django.db import Error, connection

from verdicts.models import Reads
from verdicts.services import reads

logger = logging.getLogger(__name__)

EVERY: Final = 5.0  # seconds
MOST: Final = 5000  # sessions that are worth a flush before that: the counts take memory
PORTION: Final = 1000  # sessions in one batch
BATCHES: Final = 10  # that a web process adds up at a time


class Hits:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, int] = {}
        self._others: dict[str, int] = {}
        self._timer: threading.Timer | None = None
        self._hurries = False
        self._writing = threading.Lock()

    def count(self, session_id: str) -> None:
        """One more answer from the cache."""
        with self._lock:
            self._sessions[session_id] = self._sessions.get(session_id, 0) + 1
            if self._timer is None:
                self._start(EVERY, self.flush)
            if len(self._sessions) >= MOST and not self._hurries:
                self._hurry()

    def count_other(self, outcome: str) -> None:
        """One more read that the cache had no answer for, by what the reader got."""
        with self._lock:
            self._others[outcome] = self._others.get(outcome, 0) + 1
            if self._timer is None:
                self._start(EVERY, self.flush)

    def stop(self) -> None:
        """Write everything: also what somebody else is writing, and what they had to put back."""
        with self._writing:
            self.flush()

    def flush(self) -> int:
        """Write what was counted and add it up; returns how many hits were written."""
        if not self._sessions and not self._others:
            return 0
        written = self._write()
        try:
            reads.add_up(most=BATCHES)
        except Error as error:
            logger.warning("reads cannot be added up now: %s", type(error).__name__)
        return written

    def _write(self) -> int:
        """What cannot be written now is kept."""
        with self._lock:
            sessions, others = self._sessions, self._others
            self._sessions, self._others, self._timer = {}, {}, None
            self._hurries = False
        try:
            Reads.objects.bulk_create(list(_batches(sessions, others)))
        except Error as error:
            logger.warning("hits cannot be counted now: %s", type(error).__name__)
            with self._lock:
                _add(self._sessions, sessions)
                _add(self._others, others)
                self._hurries = True  # or rather has tried: the next try has its time
            return 0
        return sum(sessions.values())

    def forget(self) -> None:
        """Drop what was counted, and the timer with it."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._sessions, self._others, self._timer = {}, {}, None
            self._hurries = False

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


def _add(counts: dict[str, int], more: dict[str, int]) -> None:
    for name, number in more.items():
        counts[name] = counts.get(name, 0) + number


def _batches(sessions: dict[str, int], others: dict[str, int]) -> Iterator[Reads]:
    """So small that whoever adds one up keeps nobody else waiting for long."""
    counted = list(sessions.items())
    for start in range(0, len(counted), PORTION):
        yield Reads(sessions=dict(counted[start : start + PORTION]))
    if others:
        yield Reads(others=others)


hits = Hits()
atexit.register(hits.stop)
