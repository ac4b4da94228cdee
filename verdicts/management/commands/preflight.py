"""Checks before a production start, without network: settings, code, migrations, static files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error
from django.db.migrations.exceptions import InconsistentMigrationHistory

from verdicts.monitoring.unapplied_migrations import unapplied_migrations
from verdicts.static_collection import collect

DEVELOPMENT = (
    "DEBUG is on, but this checks a production site. Set GEMINI_API_KEY, STRIPE_SECRET_KEY and "
    "the settings that they require; for a drill without keys DEBUG=0, ORACLE_ALLOW_SANDBOX=1 "
    "and a SECRET_KEY of 50 characters. For development use `make run`."
)


class Command(BaseCommand):
    help = (
        "Check settings, code and database before a production process starts: Django's checks, "
        "DEBUG off, every migration applied. Exit code 1 and one sentence if it must not start."
    )
    requires_system_checks = "__all__"  # which import every view

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--collect-static",
            action="store_true",
            help="collect static files into ORACLE_STATIC_PATH; web processes need them",
        )

    def handle(self, *, collect_static: bool, **_: Any) -> None:
        if settings.DEBUG:
            raise CommandError(DEVELOPMENT)
        require_migrations()
        if collect_static:
            try:
                collect(Path(settings.STATIC_ROOT))
            except OSError as error:
                raise CommandError(
                    f"The static files cannot be collected into ORACLE_STATIC_PATH: {error}."
                ) from None


def require_migrations() -> None:
    try:
        unapplied = unapplied_migrations()
    except Error as error:
        raise CommandError(f"The database does not answer: {error}".strip()) from None
    except InconsistentMigrationHistory as error:
        raise CommandError(f"{error} See `python manage.py showmigrations`.") from None
    if unapplied:
        raise CommandError(
            f"{unapplied} migrations are not applied to the database. Take a backup, then run "
            "`python manage.py migrate`."
        )
