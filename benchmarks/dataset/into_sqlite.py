"""A filled house into SQLite: prepared inserts without a journal, indexes made afterwards."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from benchmarks.dataset.past import chunks
from benchmarks.dataset.shape import Shape

# Nobody else reads it yet, and what is lost half-way is begun anew.
_HURRY: Final = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -1000000",
)


def write(
    path: Path, tables: Sequence[Sequence[Shape]], numbers: range, tick: Callable[[int], None]
) -> None:
    """Each of `tables` is all shapes of one table; whatever it held is gone."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in _HURRY:
            connection.execute(pragma)
        for shapes in tables:
            _write_table(connection, shapes, numbers, tick)
        if connection.execute("PRAGMA foreign_key_check").fetchone():
            raise ValueError("a row refers to one that is not there")
        connection.execute("PRAGMA journal_mode = WAL")


def _write_table(
    connection: sqlite3.Connection,
    shapes: Sequence[Shape],
    numbers: range,
    tick: Callable[[int], None],
) -> None:
    table = shapes[0].table
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOTNULL AND tbl_name = ?",
        [table],
    ).fetchall()
    connection.execute("BEGIN")
    connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - a name of ours
    for name, _ in indexes:
        connection.execute(f'DROP INDEX "{name}"')
    for shape in shapes:
        _insert(connection, shape, numbers, tick)
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute("COMMIT")


def _insert(
    connection: sqlite3.Connection, shape: Shape, numbers: range, tick: Callable[[int], None]
) -> None:
    statement, same = shape.insert_statement()
    for chunk in chunks(numbers):
        connection.executemany(statement, (row + same for row in shape.rows(chunk)))
        tick(len(chunk))
