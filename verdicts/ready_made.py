"""The ready-made answer of a session, by one prepared read on a connection of our own.

Not through Django's connection, whose every query costs several times the read
itself. What counts as a hit is `services.cache.find`'s rule, in SQL: there,
approved, and not expired.
"""

import sqlite3
import time
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote

import psycopg
from django.db import connection
from psycopg import pq

PATIENCE: Final = 2  # seconds that a database may take, before Django is to try its luck
KEPT_KB: Final = 128

_FOUND: Final = (
    "FROM verdicts_cachedverdict WHERE session_id = {} AND approved "
    "AND (expires_at IS NULL OR expires_at > {})"
)


class ReadyMade(NamedTuple):
    body: bytes
    etag: str


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
        self._sql = f"SELECT CAST(body AS BLOB), etag {_FOUND.format('?', '?')}"

    def find(self, session_id: str) -> ReadyMade | None:
        asked = (session_id, int(time.time()))
        # Read to the end: a cursor left open would hold an old state of the database.
        rows = self._cursor.execute(self._sql, asked).fetchall()
        return ReadyMade(*rows[0]) if rows else None

    def close(self) -> None:
        self._connection.close()


class PostgresReader:
    """libpq's own calls: a cursor of psycopg's takes longer than the read."""

    def __init__(self, parameters: dict[str, object]) -> None:
        given = parameters.get("options", "")
        asked = {
            **parameters,
            "connect_timeout": PATIENCE,
            "tcp_user_timeout": PATIENCE * 1000,
            # After what was given: of two settings the last one holds.
            "options": f"{given} -c statement_timeout={PATIENCE * 1000}".strip(),
            "client_encoding": "utf8",
        }
        self._connection = psycopg.connect(autocommit=True, **asked)  # type: ignore[arg-type]  # whatever Django was given
        self._libpq = self._connection.pgconn
        sql = f"SELECT body, etag {_FOUND.format('$1', '$2')}"
        prepared = self._libpq.prepare(b"hit", sql.encode(), [_TEXT, _BIGINT])
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            self._connection.close()  # nobody else can: there is no reader
            raise psycopg.OperationalError(prepared.get_error_message())

    def find(self, session_id: str) -> ReadyMade | None:
        now = b"%d" % time.time()
        rows = self._libpq.exec_prepared(b"hit", [session_id.encode(), now])
        if rows.status != pq.ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(rows.get_error_message())
        if not rows.ntuples:
            return None
        body, etag = rows.get_value(0, 0), rows.get_value(0, 1)
        return ReadyMade(body, etag.decode()) if body and etag else None

    def close(self) -> None:
        self._connection.close()


_TEXT: Final = psycopg.adapters.types["text"].oid
_BIGINT: Final = psycopg.adapters.types["int8"].oid


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
    return PostgresReader({**{k: v for k, v in named.items() if v}, **settings["OPTIONS"]})
