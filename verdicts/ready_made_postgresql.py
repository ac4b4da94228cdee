"""The ready-made answers of sessions, from PostgreSQL (see `verdicts.ready_made`)."""

import time
from typing import Any, Final

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGresult

from verdicts.core.sessions import session_number
from verdicts.ready_made import FOUND, PATIENCE, ReadyMade

HIT: Final = f"SELECT session_id, body, etag, verdict_id {FOUND.format('= ANY ($1)', '$2')}"
_BIGINT: Final = psycopg.adapters.types["int8"]


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
        prepared = self._libpq.prepare(b"hit", HIT.encode(), [_BIGINT.array_oid, _BIGINT.oid])
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            self._connection.close()  # nobody else can: there is no reader
            raise psycopg.OperationalError(prepared.get_error_message())

    def find(self, session_ids: list[str]) -> dict[str, ReadyMade]:
        numbers = ",".join([str(session_number(one)) for one in session_ids])
        asked = [b"{%b}" % numbers.encode(), b"%d" % time.time()]
        rows = self._libpq.exec_prepared(b"hit", asked)
        if rows.status != pq.ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(rows.get_error_message())
        read = (_row(rows, number) for number in range(rows.ntuples))
        return {
            session_id.decode(): (body, etag.decode(), int(verdict_id))
            for session_id, body, etag, verdict_id in read
        }

    def close(self) -> None:
        self._connection.close()


def _row(rows: PGresult, number: int) -> list[bytes]:
    return [rows.get_value(number, column) or b"" for column in range(4)]  # none may be null


def open_reader(settings: dict[str, Any]) -> PostgresReader:
    named = {
        "dbname": settings["NAME"],
        "user": settings["USER"],
        "password": settings["PASSWORD"],
        "host": settings["HOST"],
        "port": settings["PORT"],
    }
    return PostgresReader({**{k: v for k, v in named.items() if v}, **settings["OPTIONS"]})
