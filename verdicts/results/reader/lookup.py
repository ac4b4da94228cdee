"""Reads cache entries by a prepared query on a separate connection.

A query through Django's connection costs several times the read itself. A hit is what
`verdicts.results.cache.find` accepts, expressed in SQL: present, approved and not expired.
"""

from importlib import import_module
from typing import Final, Protocol

from django.db import connection

READ_TIMEOUT: Final = 2  # seconds after which the request is left to Django

HIT_CONDITION: Final = "WHERE approved AND (expires_at IS NULL OR expires_at > {})"

CachedEntry = tuple[bytes, str, int]  # body, ETag and the verdict's id


class Lookup(Protocol):
    def find(self, session_ids: list[str]) -> dict[str, CachedEntry]:
        """The entries that exist, by session id.

        May contain other sessions with the same session number. Raises if the database fails or
        takes longer than READ_TIMEOUT.
        """
        ...

    def close(self) -> None: ...


def open_lookup() -> Lookup:
    """A lookup on Django's database."""
    # Imported by name, so that a process loads the driver of one database only.
    module = import_module(f"verdicts.results.reader.lookup_{connection.vendor}")
    lookup: Lookup = module.open_lookup(connection.settings_dict)
    return lookup
