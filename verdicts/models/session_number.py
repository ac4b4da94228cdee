"""A session's number: the primary key of whatever is looked up by session and must not take long.

A text of seventy letters is found in an index, and then its row in the table: two
trees, of which the first is the larger. A number is found in the table itself.
"""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from verdicts.core.sessions import session_number


class SessionNumber(models.BigIntegerField):  # type: ignore[type-arg]  # none at run time
    """Made of the row's `session_id`. Two sessions of one number would take each other's place."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"primary_key": True, "editable": False, **options})

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        """SQLite puts rows in the order of what is called by just this name."""
        return "integer" if connection.vendor == "sqlite" else super().db_type(connection)

    def get_pk_value_on_save(self, instance: models.Model) -> int:
        return session_number(instance.session_id)  # type: ignore[attr-defined]
