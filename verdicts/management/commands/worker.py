"""The workers of one queue: a django-q2 pool that is watched, and replaced when it is stuck."""

import signal
import time
from argparse import ArgumentParser
from threading import Event
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import Error, close_old_connections
from django_q.conf import Conf

from verdicts.generation import client
from verdicts.jobs.queue import GENERATE, POST, DelayingBroker, is_stalled
from verdicts.jobs.worker_health import Heartbeat, Pool

LOOK_EVERY: Final = 2.0  # seconds
AN_HOUR: Final = 3600.0
# Seconds before a pool is replaced: doubled up to the longest while pools end soon after starting.
FIRST_PAUSE: Final = 0.5
MAX_PAUSE: Final = 10.0
HEALTHY_AFTER: Final = 30.0


class Command(BaseCommand):
    help = (
        "Run the workers of the queue that Q_CLUSTER_NAME names (generate or post) until SIGTERM "
        "or Ctrl-C, which let running jobs finish. A pool that is stuck or has died is replaced."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--stall-timeout",
            type=float,
            default=Conf.TIMEOUT + 10,
            help="seconds without a job taken, while jobs wait, or without a job done, while jobs "
            "are taken, after which a pool is replaced (default: a job's longest, and 10)",
        )

    def handle(self, *, stall_timeout: float, **_: Any) -> None:
        if not 0 < stall_timeout <= AN_HOUR:  # NaN is neither
            raise CommandError(
                "--stall-timeout must be more than 0 seconds, and an hour at most.", returncode=2
            )
        queue = Conf.CLUSTER_NAME
        if queue not in (GENERATE, POST):
            raise CommandError("Set Q_CLUSTER_NAME to generate or post.", returncode=2)
        if queue == GENERATE:
            client.prepare()
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        pause = FIRST_PAUSE
        while not stopping.is_set():
            started = time.monotonic()
            trouble = self._run_pool(queue, stall_timeout, stopping)
            if trouble:
                long_lived = time.monotonic() - started >= HEALTHY_AFTER
                pause = FIRST_PAUSE if long_lived else min(pause * 2, MAX_PAUSE)
                self.stderr.write(f"{queue}: {trouble}: the pool is replaced in {pause:g} s.")
                stopping.wait(pause)

    def _run_pool(self, queue: str, timeout: float, stopping: Event) -> str:
        """Until it has ended; why, unless it was stopped on request."""
        DelayingBroker.heartbeat = heartbeat = Heartbeat()  # before the pool is forked
        pool = Pool()
        # Jobs that wait at the start have waited for this pool: give it time to take them.
        judged_from = time.monotonic() + timeout
        try:
            while not stopping.wait(LOOK_EVERY):
                if not pool.is_alive():
                    return "The pool ended by itself"
                if time.monotonic() < judged_from:
                    continue
                if trouble := heartbeat.trouble(timeout) or stalled(queue, heartbeat, timeout):
                    return trouble
            pool.stop()  # takes as long as the running jobs
            return ""
        finally:
            pool.kill()


def stalled(queue: str, heartbeat: Heartbeat, timeout: float) -> str:
    """What has not moved for so many seconds; empty: something has, or nothing was to move."""
    # In the database jobs seem to have waited for long once the host's clock was put forward.
    if not heartbeat.is_idle(timeout):
        return ""
    close_old_connections()
    try:
        waits = is_stalled(queue, timeout=timeout)
    except Error:  # the database is unreachable: nothing moves, and a restart would not help
        return ""
    return f"No job was taken for {timeout:g} s" if waits else ""
