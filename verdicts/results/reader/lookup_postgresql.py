"""Cache entries from PostgreSQL (see `verdicts.results.reader.lookup`)."""

import select
import time
from typing import Any, Final

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGresult

from verdicts.core.sessions import session_number
from verdicts.results.reader.lookup import HIT_CONDITION, READ_TIMEOUT, CachedEntry

_ENTRIES: Final = f"FROM verdicts_cachedverdict {HIT_CONDITION.format('$2')} AND id = ANY ($1)"
HIT: Final = f"SELECT session_id, body, etag, verdict_id {_ENTRIES}"
# A plan that is made once and stays good for a table of any size.
_PLAN: Final = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
_BIGINT: Final = psycopg.adapters.types["int8"]


class PostgresLookup:
    """Calls libpq directly: a psycopg cursor takes longer than the read itself."""

    def __init__(self, parameters: dict[str, object]) -> None:
        given = parameters.get("options", "")
        asked = {
            **parameters,
            "connect_timeout": READ_TIMEOUT,
            # Appended: of two values of a setting the last one applies.
            "options": f"{given} -c statement_timeout={READ_TIMEOUT * 1000} {_PLAN}".strip(),
            "client_encoding": "utf8",
        }
        self._connection = psycopg.connect(autocommit=True, **asked)  # type: ignore[arg-type]  # Django's own options
        self._libpq = self._connection.pgconn
        prepared = self._libpq.prepare(b"hit", HIT.encode(), [_BIGINT.array_oid, _BIGINT.oid])
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            self._connection.close()  # nothing else refers to it
            raise psycopg.OperationalError(prepared.get_error_message())
        self._readable = select.poll()
        self._readable.register(self._libpq.socket, select.POLLIN)

    def find(self, session_ids: list[str]) -> dict[str, CachedEntry]:
        numbers = ",".join([str(session_number(one)) for one in session_ids])
        asked = [b"{%b}" % numbers.encode(), b"%d" % time.time()]
        self._libpq.send_query_prepared(b"hit", asked)
        rows = self._result()
        if rows.status != pq.ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(rows.get_error_message())
        found: dict[str, CachedEntry] = {}
        for number in range(rows.ntuples):
            session_id, body, etag, verdict = (rows.get_value(number, at) for at in range(4))
            if session_id and body and etag and verdict:
                found[session_id.decode()] = (body, etag.decode(), int(verdict))
        return found

    def _result(self) -> PGresult:
        """Within READ_TIMEOUT: a server that stops answering must not block all readers."""
        deadline = time.monotonic() + READ_TIMEOUT
        while self._libpq.is_busy():
            left = deadline - time.monotonic()
            if left <= 0 or not self._readable.poll(left * 1000):
                raise psycopg.OperationalError(f"no answer within {READ_TIMEOUT} s")
            self._libpq.consume_input()
        result = self._libpq.get_result()
        if result is None or self._libpq.get_result() is not None:
            raise psycopg.OperationalError("not exactly one result")
        return result

    def close(self) -> None:
        self._connection.close()


def open_lookup(settings: dict[str, Any]) -> PostgresLookup:
    named = {
        "dbname": settings["NAME"],
        "user": settings["USER"],
        "password": settings["PASSWORD"],
        "host": settings["HOST"],
        "port": settings["PORT"],
    }
    return PostgresLookup({**{k: v for k, v in named.items() if v}, **settings["OPTIONS"]})
