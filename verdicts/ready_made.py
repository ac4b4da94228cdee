"""The ready-made answers of sessions, by one prepared read on a connection of our own.

Not through Django's connection, whose every query costs several times the read
itself. What counts as a hit is `services.cache.find`'s rule, in SQL: there,
approved, and not expired.
"""

from importlib import import_module
from typing import Final, Protocol

from django.db import connection

PATIENCE: Final = 2  # seconds that a database may take, before Django is to try its luck

SERVED: Final = "WHERE approved AND (expires_at IS NULL OR expires_at > {})"

ReadyMade = tuple[bytes, str, int]  # body, ETag and the verdict's number


class Reader(Protocol):
    def find(self, session_ids: list[str]) -> dict[str, ReadyMade]:
        """By session id; one that is not there has none. Another's may be there, too:
        of a session whose number is that of one that was asked for."""
        ...

    def close(self) -> None: ...


def open_reader() -> Reader:
    """On the database that Django uses."""
    # By its name: a web process has the driver of one database only (oracle_site.wsgi).
    module = import_module(f"verdicts.ready_made_{connection.vendor}")
    reader: Reader = module.open_reader(connection.settings_dict)
    return reader
