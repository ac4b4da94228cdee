"""The ready-made answers of sessions, from SQLite (see `verdicts.ready_made`)."""

import sqlite3
import time
from typing import Any, Final
from urllib.parse import quote

from verdicts.core.sessions import session_number
from verdicts.ready_made import PATIENCE, SERVED, ReadyMade

KEPT_KB: Final = 128
# CROSS: from the numbers to the table, and never the other way, whatever is known of its size.
_ENTRIES: Final = (
    "FROM json_each(?) AS asked "
    "CROSS JOIN verdicts_cachedverdict AS entry ON entry.id = asked.value"
)
HIT: Final = (
    f"SELECT session_id, CAST(body AS BLOB), etag, verdict_id {_ENTRIES} {SERVED.format('?')}"
)


class SQLiteReader:
    def __init__(self, path: str) -> None:
        # "rw": a file that is not there is no empty database.
        address = f"file:{quote(path)}?mode=rw"
        self._connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=PATIENCE, check_same_thread=False
        )
        self._connection.execute("PRAGMA query_only = 1")
        # There is one in each process: pages are the system's to keep, once for all.
        self._connection.execute(f"PRAGMA cache_size = -{KEPT_KB}")
        self._cursor = self._connection.cursor()

    def find(self, session_ids: list[str]) -> dict[str, ReadyMade]:
        numbers = ",".join([str(session_number(one)) for one in session_ids])
        # Read to the end: a cursor left open would hold an old state of the database.
        rows = self._cursor.execute(HIT, (f"[{numbers}]", int(time.time()))).fetchall()
        return {session_id: (body, etag, verdict) for session_id, body, etag, verdict in rows}

    def close(self) -> None:
        self._connection.close()


def open_reader(settings: dict[str, Any]) -> SQLiteReader:
    return SQLiteReader(str(settings["NAME"]))
