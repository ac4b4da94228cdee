"""The ready-made answers of sessions, from PostgreSQL (see `verdicts.ready_made`)."""

import time
from typing import Any, Final

import psycopg
from psycopg import pq

from verdicts.core.sessions import session_number
from verdicts.ready_made import PATIENCE, SERVED, ReadyMade

_ENTRIES: Final = f"FROM verdicts_cachedverdict {SERVED.format('$2')} AND id = ANY ($1)"
HIT: Final = f"SELECT session_id, body, etag, verdict_id {_ENTRIES}"
# Planned once, and for a table of any size.
_PLAN: Final = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
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
            "options": f"{given} -c statement_timeout={PATIENCE * 1000} {_PLAN}".strip(),
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
        found: dict[str, ReadyMade] = {}
        for number in range(rows.ntuples):
            session_id, body, etag, verdict = (rows.get_value(number, at) for at in range(4))
            if session_id and body and etag and verdict:
                found[session_id.decode()] = (body, etag.decode(), int(verdict))
        return found

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
