"""A django-q2 worker pool that can be killed as a whole, and its heartbeat.

django-q's processes share locks. If one is killed while it holds a lock, the others block for
good without ending. The database shows neither which pool is stuck nor that finished jobs are no
longer removed from the queue; the heartbeat does.
"""

import os
import signal
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.sharedctypes import RawValue
from typing import Final

from django.db import connections
from django_q.cluster import Cluster

PARENT_CHECK_EVERY: Final = 1.0  # seconds
STOP_AGAIN_EVERY: Final = 1.0  # seconds


class Pool:
    """One cluster in a process group of its own, started at once.

    The group's first process watches for the death of this one, and kills the group then.
    """

    def __init__(self) -> None:
        connections.close_all()  # two processes must not share one
        self._leader = get_context("fork").Process(target=_run_cluster, args=[os.getpid()])
        self._leader.start()
        _lead_group(self._leader.pid or 0)

    def is_alive(self) -> bool:
        return self._leader.is_alive()

    def stop(self) -> None:
        """Graceful shutdown: let running jobs finish, and wait for them."""
        while self._leader.is_alive():
            self._leader.terminate()  # again: a pool that is just starting may miss one
            self._leader.join(STOP_AGAIN_EVERY)

    def kill(self) -> None:
        """Kill every process of the pool that is left."""
        if self._leader.pid:
            with suppress(ProcessLookupError):
                os.killpg(self._leader.pid, signal.SIGKILL)
        self._leader.join()


def _lead_group(pid: int) -> None:
    """Called by parent and child, so that the group exists before either needs it."""
    with suppress(ProcessLookupError):  # it has ended already
        os.setpgid(pid, pid)


def _run_cluster(parent: int) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)  # the parent's handlers mean nothing here
    _lead_group(os.getpid())
    cluster = Cluster()  # takes over SIGTERM and SIGINT, and stops in order
    cluster.start()
    while cluster.sentinel.is_alive():
        cluster.sentinel.join(PARENT_CHECK_EVERY)
        if os.getppid() != parent:
            os.killpg(0, signal.SIGKILL)


class Heartbeat:
    """Created before the pool is forked. No locks: a killed process cannot block it."""

    def __init__(self) -> None:
        self._round = RawValue("d", 0.0)
        self._taken = RawValue("d", 0.0)
        self._in_progress_since = RawValue("d", 0.0)

    def guard_checked(self) -> None:
        """The guard has checked its processes."""
        self._round.value = time.monotonic()

    def job_taken(self) -> None:
        """A job was taken from the queue."""
        self._taken.value = time.monotonic()
        if not self._in_progress_since.value:
            self._in_progress_since.value = self._taken.value

    def job_done(self) -> None:
        """A job was completed and removed from the queue."""
        self._in_progress_since.value = 0.0

    def is_idle(self, timeout: float) -> bool:
        """Whether no job was taken for `timeout` seconds, by the monotonic clock."""
        return bool(self._taken.value < time.monotonic() - timeout)

    def trouble(self, timeout: float) -> str:
        """What has not moved for `timeout` seconds; empty: everything is well."""
        too_long_ago = time.monotonic() - timeout
        if 0 < self._round.value < too_long_ago:
            return f"The guard has not checked the workers for {timeout:g} s"
        if 0 < self._in_progress_since.value < too_long_ago:
            return f"A job was taken {timeout:g} s ago, and none has finished since"
        return ""
