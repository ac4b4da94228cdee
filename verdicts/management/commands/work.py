"""The workers of one queue, with a watch over them."""

import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error, close_old_connections
from django_q.cluster import Cluster
from django_q.conf import Conf

from verdicts.queue import GENERATE, POST, is_stalled

STALLED = 3  # the exit code
LOOK_EVERY = 2.0


class Command(BaseCommand):
    help = (
        "Run the workers of the queue that Q_CLUSTER_NAME names (generate or post). Ends with "
        "code 3 when the queue no longer moves: whoever supervises it starts it again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--patience",
            type=float,
            default=Conf.TIMEOUT + 10,
            help="seconds without a job taken, while jobs wait (default: a job's longest, and 10)",
        )

    def handle(self, *, patience: float, **_: Any) -> None:
        queue = Conf.CLUSTER_NAME
        if queue not in (GENERATE, POST):
            raise CommandError("Set Q_CLUSTER_NAME to generate or post.", returncode=2)
        cluster = Cluster()
        cluster.start()
        # What waits at the start has waited for us: judge once there was time to take it.
        judged_from = time.monotonic() + patience
        while cluster.sentinel.is_alive():
            time.sleep(LOOK_EVERY)  # a signal stops the cluster in here
            if time.monotonic() < judged_from or not cluster.sentinel.is_alive():
                continue
            if self._is_stalled(queue, patience):
                self.stderr.write(f"No job was taken from {queue} for {patience:g} s: ending.")
                # Not a stop: the workers wait for a lock that nobody will ever release.
                os._exit(STALLED)

    def _is_stalled(self, queue: str, patience: float) -> bool:
        close_old_connections()
        try:
            return is_stalled(queue, patience=patience)
        except Error:  # the database is away: nothing moves, and a restart would not help
            return False
