"""The ready-made answer of a session, by one prepared read on a connection of our own.

Not through Django's connection, whose every query costs several times the read
itself. What counts as a hit is `services.cache.find`'s rule, in SQL: there,
approved, and not expired.
"""

import sqlite3
import time
from collections.abc import Callable
from typing import Final, Protocol
from urllib.parse import quote

from django.db import connection
from django.utils.module_loading import import_string

from verdicts.core.sessions import session_number

PATIENCE: Final = 2  # seconds that a database may take, before Django is to try its luck
KEPT_KB: Final = 128

FOUND: Final = (
    "FROM verdicts_cachedverdict WHERE id = {} AND session_id = {} AND approved "
    "AND (expires_at IS NULL OR expires_at > {})"
)


ReadyMade = tuple[bytes, str, int]  # body, ETag and the verdict's number


class Reader(Protocol):
    def find(self, session_id: str) -> ReadyMade | None: ...

    def close(self) -> None: ...


class SQLiteReader:
    def __init__(self, path: str) -> None:
        # "rw": a file that is not there is no empty database.
        address = f"file:{quote(path)}?mode=rw"
        self._connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=PATIENCE, check_same_thread=False
        )
        self._connection.execute("PRAGMA query_only = 1")
        # There are several of these: pages are the system's to keep, once for all.
        self._connection.execute(f"PRAGMA cache_size = -{KEPT_KB}")
        self._cursor = self._connection.cursor()
        self._sql = f"SELECT CAST(body AS BLOB), etag, verdict_id {FOUND.format('?', '?', '?')}"

    def find(self, session_id: str) -> ReadyMade | None:
        asked = (session_number(session_id), session_id, int(time.time()))
        # Read to the end: a cursor left open would hold an old state of the database.
        rows: list[ReadyMade] = self._cursor.execute(self._sql, asked).fetchall()
        return rows[0] if rows else None

    def close(self) -> None:
        self._connection.close()


def open_reader() -> Reader:
    """On the database that Django uses."""
    if connection.vendor == "sqlite":
        return SQLiteReader(str(connection.settings_dict["NAME"]))
    settings = connection.settings_dict
    named = {
        "dbname": settings["NAME"],
        "user": settings["USER"],
        "password": settings["PASSWORD"],
        "host": settings["HOST"],
        "port": settings["PORT"],
    }
    # By its name: a web process on SQLite has no psycopg (oracle_site.wsgi).
    reader: Callable[..., Reader] = import_string("verdicts.ready_made_postgresql.PostgresReader")
    return reader({**{k: v for k, v in named.items() if v}, **settings["OPTIONS"]})
