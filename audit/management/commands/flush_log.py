"""`manage.py flush_log`: writes pending log lines on a host without workers."""

import time
from argparse import ArgumentParser
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections

from audit.log import log
from audit.models import LogEntry

MAX_INTERVAL: Final = 24 * 3600


class Command(BaseCommand):
    help = (
        "Write this host's pending log lines and blank erased previews, periodically. For hosts "
        "that only serve pages (oracle-flush-log.service); on hosts with workers the sweep does it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--every", type=float, default=60.0, help="seconds between two runs (default: 60)"
        )
        parser.add_argument(
            "--once", action="store_true", help="run once; exit code 1 if lines are still pending"
        )

    def handle(self, *, every: float, once: bool, **_: Any) -> str:
        if not 0 < every <= MAX_INTERVAL:  # false for NaN, too
            raise CommandError(
                "--every must be more than 0 seconds and at most a day.", returncode=2
            )
        while True:
            close_old_connections()
            done = log.sweep()  # logs what it could not do
            if once:
                return self._outcome(done)
            time.sleep(every)

    def _outcome(self, done: int) -> str:
        if left := LogEntry.objects.pending(settings.ORACLE_LOG_NAME).count():
            raise CommandError(f"{left} lines are still pending: the service log says why.")
        return f"Nothing pending; {done} lines were written or blanked."
