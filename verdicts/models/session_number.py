"""An integer primary key computed from the session id, for tables that are read by session.

An index on ids of seventy characters is larger than the table, and a look-up needs both; an
integer primary key is found in the table itself.
"""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from verdicts.core.sessions import session_number


class SessionNumber(models.BigIntegerField):  # type: ignore[type-arg]  # none at run time
    """Computed from `session_id`. Two sessions with one number would replace each other."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"primary_key": True, "editable": False, **options})

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        """SQLite stores rows by their primary key only if its type is exactly `integer`."""
        return "integer" if connection.vendor == "sqlite" else super().db_type(connection)

    def get_pk_value_on_save(self, instance: models.Model) -> int:
        return session_number(instance.session_id)  # type: ignore[attr-defined]
