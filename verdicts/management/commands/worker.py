"""Runs the workers of one queue: a django-q2 pool that is monitored, and replaced if it stalls."""

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

CHECK_INTERVAL: Final = 2.0  # seconds
MAX_STALL_TIMEOUT: Final = 3600.0
# Exponential backoff in seconds between pools, reset by a pool that ran for HEALTHY_AFTER seconds.
MIN_BACKOFF: Final = 0.5
MAX_BACKOFF: Final = 10.0
HEALTHY_AFTER: Final = 30.0


class Command(BaseCommand):
    help = (
        "Run the workers of the queue in Q_CLUSTER_NAME (generate or post) until SIGTERM or "
        "Ctrl-C, which let running jobs finish. A pool that stalls or dies is replaced."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--stall-timeout",
            type=float,
            default=Conf.TIMEOUT + 10,
            help="replace the pool after so many seconds without a job taken while jobs wait, or "
            "without a job finished while jobs are taken (default: a job's time limit + 10)",
        )

    def handle(self, *, stall_timeout: float, **_: Any) -> None:
        if not 0 < stall_timeout <= MAX_STALL_TIMEOUT:  # false for NaN
            raise CommandError(
                "--stall-timeout must be more than 0 seconds, and at most an hour.", returncode=2
            )
        queue = Conf.CLUSTER_NAME
        if queue not in (GENERATE, POST):
            raise CommandError("Set Q_CLUSTER_NAME to generate or post.", returncode=2)
        if queue == GENERATE:
            client.prepare()
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        backoff = MIN_BACKOFF
        while not stopping.is_set():
            started = time.monotonic()
            problem = self._run_pool(queue, stall_timeout, stopping)
            if problem:
                healthy = time.monotonic() - started >= HEALTHY_AFTER
                backoff = MIN_BACKOFF if healthy else min(backoff * 2, MAX_BACKOFF)
                self.stderr.write(f"{queue}: {problem}: the pool is replaced in {backoff:g} s.")
                stopping.wait(backoff)

    def _run_pool(self, queue: str, timeout: float, stopping: Event) -> str:
        """Run a pool until it ends; why it ended, or empty if it was stopped on request."""
        DelayingBroker.heartbeat = heartbeat = Heartbeat()  # before the pool is forked
        pool = Pool()
        # Jobs may have waited for this pool to start: give it time to take them.
        monitored_from = time.monotonic() + timeout
        try:
            while not stopping.wait(CHECK_INTERVAL):
                if not pool.is_alive():
                    return "The pool ended by itself"
                if time.monotonic() < monitored_from:
                    continue
                if problem := heartbeat.trouble(timeout) or stalled(queue, heartbeat, timeout):
                    return problem
            pool.stop()  # waits for running jobs
            return ""
        finally:
            pool.kill()


def stalled(queue: str, heartbeat: Heartbeat, timeout: float) -> str:
    """Why the queue counts as stalled; empty if it does not."""
    # Checked first by the monotonic clock: after a jump of the host's clock, all jobs in the
    # database seem to have waited for long.
    if not heartbeat.is_idle(timeout):
        return ""
    close_old_connections()
    try:
        waits = is_stalled(queue, timeout=timeout)
    except Error:  # the database is unreachable: a restart would not help
        return ""
    return f"No job was taken for {timeout:g} s" if waits else ""
