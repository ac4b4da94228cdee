"""The workers of one queue, with a watch over them."""

import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error, close_old_connections
from django_q.cluster import Cluster
from django_q.conf import Conf

from verdicts.gateways import gemini
from verdicts.pool import Pulse
from verdicts.queue import GENERATE, POST, DelayingBroker, is_stalled

STALLED = 3  # the exit code
LOOK_EVERY = 2.0
AN_HOUR = 3600.0


class Command(BaseCommand):
    help = (
        "Run the workers of the queue that Q_CLUSTER_NAME names (generate or post). Ends with "
        "code 3 when the queue or the pool no longer moves: whoever supervises it starts it again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--patience",
            type=float,
            default=Conf.TIMEOUT + 10,
            help="seconds without a job taken, while jobs wait, or without a job done, while jobs "
            "are taken (default: a job's longest, and 10)",
        )

    def handle(self, *, patience: float, **_: Any) -> None:
        if not 0 < patience <= AN_HOUR:  # NaN is neither
            raise CommandError(
                "--patience must be more than 0 seconds, and an hour at most.", returncode=2
            )
        queue = Conf.CLUSTER_NAME
        if queue not in (GENERATE, POST):
            raise CommandError("Set Q_CLUSTER_NAME to generate or post.", returncode=2)
        if queue == GENERATE:
            gemini.prepare()
        DelayingBroker.pulse = pulse = Pulse()  # before the pool is forked
        cluster = Cluster()
        cluster.start()
        # What waits at the start has waited for us: judge once there was time to take it.
        judged_from = time.monotonic() + patience
        while cluster.sentinel.is_alive():
            time.sleep(LOOK_EVERY)  # a signal stops the cluster in here
            if time.monotonic() < judged_from or not cluster.sentinel.is_alive():
                continue
            trouble = pulse.trouble(patience) or stalled(queue, pulse, patience)
            if trouble:
                self.stderr.write(f"{queue}: {trouble}: ending.")
                # Not a stop: the workers wait for a lock that nobody will ever release.
                os._exit(STALLED)


def stalled(queue: str, pulse: Pulse, patience: float) -> str:
    """What has not moved for so many seconds; empty: something has, or nothing was to move."""
    # In the database jobs seem to have waited for long once the host's clock was put forward.
    if not pulse.is_idle(patience):
        return ""
    close_old_connections()
    try:
        waits = is_stalled(queue, patience=patience)
    except Error:  # the database is away: nothing moves, and a restart would not help
        return ""
    return f"No job was taken for {patience:g} s" if waits else ""
