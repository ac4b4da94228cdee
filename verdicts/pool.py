"""How one pool of workers is doing, in memory that its processes share.

django-q's processes share locks, and one that is killed takes those it holds with
it: nothing ends, and something has stopped for good. The database cannot tell
which pool that was, nor that jobs are done and never taken off the queue.
"""

import time
from multiprocessing.sharedctypes import RawValue


class Pulse:
    """Made before the pool is forked. Without locks, so that nobody's death can stop it."""

    def __init__(self) -> None:
        self._round = RawValue("d", 0.0)
        self._taken = RawValue("d", 0.0)
        self._owed_since = RawValue("d", 0.0)

    def rounded(self) -> None:
        """The guard has looked after its processes."""
        self._round.value = time.monotonic()

    def taken(self) -> None:
        """A job was taken from the queue."""
        self._taken.value = time.monotonic()
        if not self._owed_since.value:
            self._owed_since.value = self._taken.value

    def done(self) -> None:
        """A job was taken off the queue."""
        self._owed_since.value = 0.0

    def is_idle(self, patience: float) -> bool:
        """Whether no job was taken for so many seconds, by a clock that nobody can step."""
        return bool(self._taken.value < time.monotonic() - patience)

    def trouble(self, patience: float) -> str:
        """What has stood still for so many seconds; empty: nothing has."""
        too_long_ago = time.monotonic() - patience
        if 0 < self._round.value < too_long_ago:
            return f"Nobody has looked after the workers for {patience:g} s"
        if 0 < self._owed_since.value < too_long_ago:
            return f"A job was taken {patience:g} s ago, and none is done since"
        return ""
