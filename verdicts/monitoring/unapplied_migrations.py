"""Whether the database schema is that of the code; used by `preflight` and `/readyz`."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def unapplied_migrations() -> int:
    """How many migrations are missing in the database.

    Raises InconsistentMigrationHistory, and django.db.Error where the database does not answer.
    """
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
