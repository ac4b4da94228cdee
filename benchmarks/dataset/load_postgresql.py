"""Bulk-loads a dataset into PostgreSQL: COPY first, then indexes and foreign keys.

Two tables at a time, each in its own transaction. Foreign keys are dropped first; the
database checks them when they are added again.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from django.db import connection
from psycopg.copy import LibpqWriter
from psycopg.generators import copy_to

from benchmarks.dataset.history import chunks
from benchmarks.dataset.row_set import RowSet

PARALLEL_TABLES: Final = 2
_CHUNK_BYTES: Final = 64 * 1024

_FOREIGN_KEYS: Final = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND (conrelid::regclass = ANY(%(tables)s::regclass[])
                                            OR confrelid::regclass = ANY(%(tables)s::regclass[]))
"""
# Without partial indexes, which cover few rows.
_INDEXES: Final = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), quote_ident(conname),
       pg_get_constraintdef(pg_constraint.oid)
FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
WHERE indrelid = %s::regclass AND indpred IS NULL
"""

CountRows = Callable[[int], None]


class _FlushingWriter(LibpqWriter):
    """Flushes each chunk: libpq moves its whole send buffer on every partial send."""

    def write(self, data: Any) -> None:
        for start in range(0, len(data), _CHUNK_BYTES):
            chunk = data[start : start + _CHUNK_BYTES]
            self.connection.wait(copy_to(self._pgconn, chunk, flush=True))


def connection_parameters() -> dict[str, Any]:
    """Connection parameters of Django's database."""
    found = connection.get_connection_params()
    return {
        name: found[name]
        for name in ("dbname", "user", "password", "host", "port")
        if found.get(name)
    }


def write(
    parameters: dict[str, Any],
    tables: Sequence[Sequence[RowSet]],
    numbers: range,
    count_rows: CountRows,
) -> None:
    """Replace the rows of `tables`, each given by all its row sets; pass the largest first."""
    names = [f'"{row_sets[0].table}"' for row_sets in tables]
    with psycopg.connect(**parameters) as session:
        foreign_keys = session.execute(_FOREIGN_KEYS, {"tables": names}).fetchall()
        for table, name, _ in foreign_keys:
            session.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    with ThreadPoolExecutor(PARALLEL_TABLES) as workers:
        list(
            workers.map(
                lambda row_sets: _write_table(parameters, row_sets, numbers, count_rows), tables
            )
        )
        list(workers.map(lambda key: _add_foreign_key(parameters, *key), foreign_keys))
    with psycopg.connect(**parameters, autocommit=True) as session:
        session.execute("VACUUM (ANALYZE)")  # as autovacuum would; fast, since all rows are frozen


def _write_table(
    parameters: dict[str, Any], row_sets: Sequence[RowSet], numbers: range, count_rows: CountRows
) -> None:
    table = f'"{row_sets[0].table}"'
    with psycopg.connect(**parameters) as session, session.cursor() as cursor:
        cursor.execute("SET LOCAL maintenance_work_mem = '512MB'")
        cursor.execute("SET LOCAL TimeZone = 'UTC'")
        cursor.execute(f"TRUNCATE {table}")
        with _without_indexes(cursor, table):
            for shape in row_sets:
                _copy(cursor, shape, numbers, count_rows)


def _copy(
    cursor: "psycopg.Cursor[Any]", shape: RowSet, numbers: range, count_rows: CountRows
) -> None:
    line = shape.copy_line()
    # FREEZE is allowed because the table was truncated in this transaction.
    statement = f"{shape.copy_statement()} WITH (FREEZE)"
    with cursor.copy(statement, writer=_FlushingWriter(cursor)) as copy:
        for chunk in chunks(numbers):
            copy.write("".join([line % row for row in shape.rows(chunk)]))
            count_rows(len(chunk))


@contextmanager
def _without_indexes(cursor: "psycopg.Cursor[Any]", table: str) -> Iterator[None]:
    found = cursor.execute(_INDEXES, [table]).fetchall()
    for index, _, constraint, _ in found:
        if constraint:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
        else:
            cursor.execute(f"DROP INDEX {index}")
    yield
    for _, index, constraint, definition in found:
        if constraint:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {constraint} {definition}")
        else:
            cursor.execute(index)


def _add_foreign_key(parameters: dict[str, Any], table: str, name: str, definition: str) -> None:
    with psycopg.connect(**parameters) as session:
        session.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
