"""Writes what this host's log lacks, on a host that has no workers."""

import time
from argparse import ArgumentParser
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from audit.log import log
from audit.models import LogEntry

A_DAY: Final = 24 * 3600


class Command(BaseCommand):
    help = (
        "Write what this host's log still lacks and blank what was erased, again and again. Where "
        "workers run, their sweep does it: this is for hosts that only serve pages "
        "(oracle-flush-log.service)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--every", type=float, default=60.0, help="seconds between two looks (default: 60)"
        )
        parser.add_argument(
            "--once", action="store_true", help="look once; code 1 where lines still wait"
        )

    def handle(self, *, every: float, once: bool, **_: Any) -> str:
        if not 0 < every <= A_DAY:  # NaN is neither
            raise CommandError(
                "--every must be more than 0 seconds, and a day at most.", returncode=2
            )
        while True:
            close_old_connections()
            done = log.sweep()  # which tells in the service log what it could not do
            if once:
                return self._outcome(done)
            time.sleep(every)

    def _outcome(self, done: int) -> str:
        if left := LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count():
            raise CommandError(f"{left} lines still wait: the service log says why.")
        return f"Nothing waits; {done} lines were written or blanked."
