"""Cache entries from SQLite (see `verdicts.results.reader.lookup`)."""

import sqlite3
import time
from typing import Any, Final
from urllib.parse import quote

from verdicts.core.sessions import session_number
from verdicts.results.reader.lookup import HIT_CONDITION, READ_TIMEOUT, CachedEntry

CACHE_KB: Final = 128
_COLUMNS: Final = "session_id, CAST(body AS BLOB), etag, verdict_id"
_ENTRY: Final = f"FROM verdicts_cachedverdict {HIT_CONDITION.format('?')} AND id = ?"
HIT: Final = f"SELECT {_COLUMNS} {_ENTRY}"


class SQLiteLookup:
    def __init__(self, path: str) -> None:
        # "rw": a missing file is an error, not a new database.
        address = f"file:{quote(path)}?mode=rw"
        self._connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=READ_TIMEOUT, check_same_thread=False
        )
        self._connection.execute("PRAGMA query_only = 1")
        # Pages are cached by the operating system, once for all processes.
        self._connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        self._cursor = self._connection.cursor()

    def find(self, session_ids: list[str]) -> dict[str, CachedEntry]:
        found: dict[str, CachedEntry] = {}
        now = int(time.time())
        for asked in session_ids:
            # Fetch all rows: an open cursor would keep reading an old snapshot.
            rows = self._cursor.execute(HIT, (now, session_number(asked))).fetchall()
            for session_id, body, etag, verdict in rows:
                found[session_id] = (body, etag, verdict)
        return found

    def close(self) -> None:
        self._connection.close()


def open_lookup(settings: dict[str, Any]) -> SQLiteLookup:
    return SQLiteLookup(str(settings["NAME"]))
