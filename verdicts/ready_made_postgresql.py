"""The ready-made answer of a session, from PostgreSQL (see `verdicts.ready_made`)."""

import time
from typing import Any, Final

import psycopg
from psycopg import pq

from verdicts.core.sessions import session_number
from verdicts.ready_made import FOUND, PATIENCE, ReadyMade

# The id is compared and not looked for: to the planner its index is as good as the number's.
_SAME: Final = "session_id || '' = $2"
HIT: Final = f"SELECT body, etag, verdict_id {FOUND.format('$1', _SAME, '$3')}"
_TEXT: Final = psycopg.adapters.types["text"].oid
_BIGINT: Final = psycopg.adapters.types["int8"].oid


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
        prepared = self._libpq.prepare(b"hit", HIT.encode(), [_BIGINT, _TEXT, _BIGINT])
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            self._connection.close()  # nobody else can: there is no reader
            raise psycopg.OperationalError(prepared.get_error_message())

    def find(self, session_id: str) -> ReadyMade | None:
        asked = [b"%d" % session_number(session_id), session_id.encode(), b"%d" % time.time()]
        rows = self._libpq.exec_prepared(b"hit", asked)
        if rows.status != pq.ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(rows.get_error_message())
        if not rows.ntuples:
            return None
        body, etag, verdict_id = (rows.get_value(0, column) for column in range(3))
        return (body, etag.decode(), int(verdict_id)) if body and etag and verdict_id else None

    def close(self) -> None:
        self._connection.close()


def open_reader(settings: dict[str, Any]) -> PostgresReader:
    named = {
        "dbname": settings["NAME"],
        "user": settings["USER"],
        "password": settings["PASSWORD"],
        "host": settings["HOST"],
        "port": settings["PORT"],
    }
    return PostgresReader({**{k: v for k, v in named.items() if v}, **settings["OPTIONS"]})
