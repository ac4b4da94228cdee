"""`manage.py drill`: breaks a site of its own on purpose and audits its invariants."""

import secrets
import shutil
import signal
import tempfile
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from drill.failures import NotRun, RetriesExhausted

VIOLATED: Final = 1
NOT_RUN: Final = 2
MAX_ORDERS: Final = 5_000  # the sandbox keeps the newest 20,000 records of each kind


class Command(BaseCommand):
    help = (
        "Start a separate site with workers and a sandbox, place orders while faults are "
        "injected (killed processes, a full disk, database restarts, clock steps, failing model, "
        "mail and webhooks), wait until no work is left and audit every invariant. Uses no other "
        "database and needs no keys. With --crowd: no faults, but all orders at once on a slow "
        "model. "
        "Exit code: 0 all invariants hold, 1 one is violated, 2 the drill could not be run."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--orders", type=_orders, default=100, help="number of orders (default: 100)"
        )
        parser.add_argument(
            "--seed",
            type=int,
            help="repeats the orders and faults of the drill with this seed (default: random)",
        )
        parser.add_argument(
            "--database",
            default="sqlite",
            help="sqlite (default), postgres for a throwaway server, or a postgres:// URL for a "
            "new database on that server, which is then not restarted",
        )
        parser.add_argument(
            "--crowd",
            type=_pace,
            metavar="PACE",
            help="load instead of faults: all orders at once, on a model that takes PACE requests "
            "a second (`make crowd`: --orders 500 --crowd 1, ten minutes)",
        )
        parser.add_argument(
            "--keep",
            action="store_true",
            help="keep logs and database even if all invariants hold",
        )

    def handle(self, *, orders: int, seed: int | None, **options: Any) -> str:
        run = _import_run()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop the site before exiting
        seed = secrets.randbelow(1_000_000) if seed is None else seed
        repeat = f"Repeat it with --seed {seed}."
        self.stderr.write(f"Seed {seed}.")  # at once, in case this process is killed
        folder = Path(tempfile.mkdtemp(prefix="oracle-drill-"))
        folder.chmod(0o755)
        try:
            report = run.drill(
                orders, seed, pace=options["crowd"], database=options["database"], folder=folder
            )
        except NotRun as error:
            if not any(folder.iterdir()):
                folder.rmdir()
            raise CommandError(f"The drill was not run: {error}", returncode=NOT_RUN) from None
        except RetriesExhausted as error:
            message = f"VIOLATED: {error}. {repeat} {_kept(folder)}"
            raise CommandError(message, returncode=VIOLATED) from None
        except KeyboardInterrupt:
            message = f"Interrupted. {repeat} {_kept(folder)}"
            raise CommandError(message, returncode=NOT_RUN) from None
        self.stdout.write("\n".join(report.lines()))
        if report.first_violation:
            message = f"VIOLATED: {report.first_violation}. {repeat} {_kept(folder)}"
            raise CommandError(message, returncode=VIOLATED)
        if options["keep"]:
            return f"\n{report.all_hold} {_kept(folder)}"
        shutil.rmtree(folder, ignore_errors=True)
        return f"\n{report.all_hold}"


def _import_run() -> Any:
    # At the call: it needs development packages, and Django imports every command.
    try:
        return import_module("drill.run")
    except ModuleNotFoundError as error:
        message = f"{error}. Install requirements-dev.txt (`make drill` does)."
        raise CommandError(f"The drill was not run: {message}", returncode=NOT_RUN) from None


def _pace(text: str) -> float:
    with suppress(ValueError):
        if 0.1 <= float(text) <= 1_000:
            return float(text)
    raise ArgumentTypeError(f"must be a number from 0.1 to 1,000, not {text!r}")


def _orders(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_ORDERS:
        return int(text)
    raise ArgumentTypeError(f"must be a number from 1 to {MAX_ORDERS:,}, not {text!r}")


def _kept(folder: Path) -> str:
    return f"The site's files are in {folder}."
