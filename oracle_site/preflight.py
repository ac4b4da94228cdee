"""What `make serve` looks at before anything starts, or takes another's place.

Its own process, so that the supervisor needs no Django and sees new code and new
settings. Prints as JSON how to serve, or the sentence that says why not.
"""

import argparse
import fcntl
import io
import json
import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import Error, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.executor import MigrationExecutor

from oracle_site.static_files import UNUSED

DEVELOPMENT = (
    "DEBUG is on, and `make serve` is for customers. Set GEMINI_API_KEY, STRIPE_SECRET_KEY and "
    "what they ask for; for a drill without keys DEBUG=0, ORACLE_ALLOW_SANDBOX=1 and a SECRET_KEY "
    "of 50 characters. `make run` is for development."
)


class NotYet(Exception):
    """The sentence says what is missing, and what to do."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="oracle_site.preflight", description=__doc__)
    parser.add_argument("--only", choices=["web", "work"])
    options = parser.parse_args()
    try:
        found = look(web=options.only != "work")
    except NotYet as error:
        found = {"refused": str(error)}
    sys.stdout.write(json.dumps(found))


def look(*, web: bool) -> dict[str, object]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        raise NotYet(str(error)) from None
    if settings.DEBUG:
        raise NotYet(DEVELOPMENT)
    try:
        call_command("check", stdout=io.StringIO())  # which also imports every view
    except SystemCheckError as error:
        raise NotYet(str(error)) from None
    demand_migrations()
    if web:
        collect_static(Path(settings.STATIC_ROOT))
    queues = {name: kind["timeout"] for name, kind in settings.Q_CLUSTER["ALT_CLUSTERS"].items()}
    return {**settings.SERVING._asdict(), "queues": queues}


def demand_migrations() -> None:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except Error as error:
        raise NotYet(f"The database does not answer: {error}".strip()) from None
    except InconsistentMigrationHistory as error:
        raise NotYet(f"{error} See `python manage.py showmigrations`.") from None
    if missing:
        raise NotYet(
            f"{len(missing)} migrations are not applied to the database. Make a backup, then run "
            "`python manage.py migrate`."
        )


def collect_static(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
        # Two groups of one host may share the folder.
        with (root.parent / f"{root.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            call_command("collectstatic", verbosity=0, interactive=False, ignore_patterns=[*UNUSED])
    except OSError as error:
        raise NotYet(
            f"The static files cannot be collected in ORACLE_STATIC_PATH: {error}."
        ) from None


if __name__ == "__main__":
    main()
