"""A filled house into PostgreSQL: every table by COPY, its indexes made afterwards.

Two tables at a time, each in a transaction of its own. What tables refer to is
checked at the end, by the database itself, when their foreign keys come back.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from django.db import connection
from psycopg.copy import LibpqWriter
from psycopg.generators import copy_to

from benchmarks.dataset.past import chunks
from benchmarks.dataset.shape import Shape

AT_ONCE: Final = 2
_PIECE: Final = 64 * 1024

_REFERENCES: Final = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND (conrelid::regclass = ANY(%(tables)s::regclass[])
                                            OR confrelid::regclass = ANY(%(tables)s::regclass[]))
"""
# All but those of a few rows only.
_INDEXES: Final = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), quote_ident(conname),
       pg_get_constraintdef(pg_constraint.oid)
FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
WHERE indrelid = %s::regclass AND indpred IS NULL
"""

Tick = Callable[[int], None]


class _Steady(LibpqWriter):
    """Sends each piece before it takes the next: libpq moves whatever waits at every send."""

    def write(self, data: Any) -> None:
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self.connection.wait(copy_to(self._pgconn, piece, flush=True))


def parameters() -> dict[str, Any]:
    """How Django connects to its database."""
    found = connection.get_connection_params()
    return {
        name: found[name]
        for name in ("dbname", "user", "password", "host", "port")
        if found.get(name)
    }


def write(
    address: dict[str, Any], tables: Sequence[Sequence[Shape]], numbers: range, tick: Tick
) -> None:
    """Each of `tables` is all shapes of one table; whatever it held is gone. Heaviest first."""
    names = [f'"{shapes[0].table}"' for shapes in tables]
    with psycopg.connect(**address) as session:
        references = session.execute(_REFERENCES, {"tables": names}).fetchall()
        for table, name, _ in references:
            session.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    with ThreadPoolExecutor(AT_ONCE) as workers:
        list(workers.map(lambda shapes: _write_table(address, shapes, numbers, tick), tables))
        list(workers.map(lambda made: _refer(address, *made), references))
    with psycopg.connect(**address, autocommit=True) as session:
        session.execute("VACUUM (ANALYZE)")  # as time would: all rows are frozen, so it is quick


def _write_table(
    address: dict[str, Any], shapes: Sequence[Shape], numbers: range, tick: Tick
) -> None:
    table = f'"{shapes[0].table}"'
    with psycopg.connect(**address) as session, session.cursor() as cursor:
        cursor.execute("SET LOCAL maintenance_work_mem = '512MB'")
        cursor.execute("SET LOCAL TimeZone = 'UTC'")
        cursor.execute(f"TRUNCATE {table}")
        with _without_indexes(cursor, table):
            for shape in shapes:
                _copy(cursor, shape, numbers, tick)


def _copy(cursor: "psycopg.Cursor[Any]", shape: Shape, numbers: range, tick: Tick) -> None:
    line = shape.copy_line()
    # Frozen, as a vacuum would leave them: nobody else can see the table before we commit.
    statement = f"{shape.copy_statement()} WITH (FREEZE)"
    with cursor.copy(statement, writer=_Steady(cursor)) as copy:
        for chunk in chunks(numbers):
            copy.write("".join([line % row for row in shape.rows(chunk)]))
            tick(len(chunk))


@contextmanager
def _without_indexes(cursor: "psycopg.Cursor[Any]", table: str) -> Iterator[None]:
    found = cursor.execute(_INDEXES, [table]).fetchall()
    for index, _, constraint, _ in found:
        if constraint:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
        else:
            cursor.execute(f"DROP INDEX {index}")
    yield
    for _, index, constraint, unique in found:
        if constraint:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {constraint} {unique}")
        else:
            cursor.execute(index)


def _refer(address: dict[str, Any], table: str, name: str, reference: str) -> None:
    with psycopg.connect(**address) as session:
        session.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {reference}")
