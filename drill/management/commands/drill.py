"""`manage.py drill`: breaks a site of its own on purpose, and audits its invariants."""

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

from drill.failures import GaveUp, NotRun

VIOLATED: Final = 1
NOT_RUN: Final = 2
MAX_ORDERS: Final = 5_000  # the sandbox keeps the newest 20,000 of each kind


class Command(BaseCommand):
    help = (
        "Start a site, workers and sandbox of its own, push orders through while it kills "
        "processes, fills the disk, restarts the database, steps the clock and has model, mail "
        "and webhooks fail; wait for quiet and audit every invariant. Touches no other database "
        "and needs no keys. The seed repeats what is injected. With --crowd nothing is broken: "
        "all orders come at once to a slow model, and what the others notice is looked at. "
        "Exit code: 0 all invariants kept, 1 one was violated, 2 it could not be run."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - as Django declares it

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--orders", type=_orders, default=100, help="how many (default: 100)")
        parser.add_argument(
            "--seed", type=int, help="of what is drawn (default: a new one, which is told)"
        )
        parser.add_argument(
            "--database",
            default="sqlite",
            help="sqlite (default), postgres for a throwaway server, or postgres://... for a new "
            "database on a server of yours, which is then not restarted",
        )
        parser.add_argument(
            "--crowd",
            type=_pace,
            metavar="PACE",
            help="instead of faults: all orders at once, on a model that takes PACE requests a "
            "second (as sold: --orders 500 --crowd 1, which takes ten minutes)",
        )

        parser.add_argument(
            "--keep", action="store_true", help="keep logs and database although all is well"
        )

    def handle(self, *, orders: int, seed: int | None, **options: Any) -> str:
        conduct = _conduct()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing is left running
        seed = secrets.randbelow(1_000_000) if seed is None else seed
        again = f"Seed {seed} repeats it."
        self.stderr.write(f"Seed {seed}.")  # also for whoever ends this from outside
        folder = Path(tempfile.mkdtemp(prefix="oracle-drill-"))
        folder.chmod(0o755)
        try:
            report = conduct.drill(
                orders, seed, pace=options["crowd"], database=options["database"], folder=folder
            )
        except NotRun as error:
            if not any(folder.iterdir()):
                folder.rmdir()
            raise CommandError(f"The drill was not run: {error}", returncode=NOT_RUN) from None
        except GaveUp as error:
            why = f"VIOLATED: {error}. {again} {_kept(folder)}"
            raise CommandError(why, returncode=VIOLATED) from None
        except KeyboardInterrupt:
            why = f"Stopped. {again} {_kept(folder)}"
            raise CommandError(why, returncode=NOT_RUN) from None
        self.stdout.write("\n".join(report.lines()))
        if report.first_violation:
            why = f"VIOLATED. {report.first_violation}. {again} {_kept(folder)}"
            raise CommandError(why, returncode=VIOLATED)
        if options["keep"]:
            return f"\n{report.kept} {_kept(folder)}"
        shutil.rmtree(folder, ignore_errors=True)
        return f"\n{report.kept}"


def _conduct() -> Any:
    # Not at the top: what it needs comes with the tests, and Django imports every command.
    try:
        return import_module("drill.run")
    except ModuleNotFoundError as error:
        why = f"{error}. `make drill` installs what it needs (requirements-dev.txt)."
        raise CommandError(f"The drill was not run: {why}", returncode=NOT_RUN) from None


def _pace(text: str) -> float:
    with suppress(ValueError):
        if 0.1 <= float(text) <= 1_000:
            return float(text)
    raise ArgumentTypeError(f"a number from 0.1 to 1,000, not {text!r}")


def _orders(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_ORDERS:
        return int(text)
    raise ArgumentTypeError(f"a number from 1 to {MAX_ORDERS:,}, not {text!r}")


def _kept(folder: Path) -> str:
    return f"What the site left behind is in {folder}."
