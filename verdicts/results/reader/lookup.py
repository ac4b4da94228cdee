"""Reads entries of the cache by one prepared query on a connection of its own.

Not through Django's connection, whose every query costs several times the read itself.
What counts as a hit is the rule of `services.cache.find`, in SQL: present, approved and
not expired.
"""

from importlib import import_module
from typing import Final, Protocol

from django.db import connection

READ_TIMEOUT: Final = 2  # seconds that the database has, before the request is left to Django

HIT_CONDITION: Final = "WHERE approved AND (expires_at IS NULL OR expires_at > {})"

CachedEntry = tuple[bytes, str, int]  # body, ETag and the verdict's id


class Lookup(Protocol):
    def find(self, session_ids: list[str]) -> dict[str, CachedEntry]:
        """Entries by session id; a session without one is left out.

        May contain sessions that were not asked for, where two share one number.
        Raises where the database fails, or takes longer than READ_TIMEOUT.
        """
        ...

    def close(self) -> None: ...


def open_lookup() -> Lookup:
    """On the database that Django uses."""
    # By its name: a process loads the driver of one database only.
    module = import_module(f"verdicts.results.reader.lookup_{connection.vendor}")
    lookup: Lookup = module.open_lookup(connection.settings_dict)
    return lookup
