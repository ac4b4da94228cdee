"""Bulk-loads a dataset into SQLite: prepared inserts without a journal, then indexes."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from benchmarks.dataset.history import chunks
from benchmarks.dataset.row_set import RowSet

CountRows = Callable[[int], None]

# Safe: no other process uses the database, and an interrupted load starts again from scratch.
_BULK_LOAD_PRAGMAS: Final = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA foreign_keys = OFF",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -1000000",
)


def write(
    path: Path,
    tables: Sequence[Sequence[RowSet]],
    numbers: range,
    count_rows: CountRows,
) -> None:
    """Replace the rows of `tables`, each given by all its row sets."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in _BULK_LOAD_PRAGMAS:
            connection.execute(pragma)
        for row_sets in tables:
            _write_table(connection, row_sets, numbers, count_rows)
        if connection.execute("PRAGMA foreign_key_check").fetchone():
            raise ValueError("a foreign key refers to a missing row")
        connection.execute("PRAGMA journal_mode = WAL")


def _write_table(
    connection: sqlite3.Connection,
    row_sets: Sequence[RowSet],
    numbers: range,
    count_rows: CountRows,
) -> None:
    table = row_sets[0].table
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOTNULL AND tbl_name = ?",
        [table],
    ).fetchall()
    connection.execute("BEGIN")
    connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - our own table name
    for name, _ in indexes:
        connection.execute(f'DROP INDEX "{name}"')
    for shape in row_sets:
        _insert(connection, shape, numbers, count_rows)
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute("COMMIT")


def _insert(
    connection: sqlite3.Connection, shape: RowSet, numbers: range, count_rows: CountRows
) -> None:
    statement, fixed_values = shape.insert_statement()
    for chunk in chunks(numbers):
        connection.executemany(statement, (row + fixed_values for row in shape.rows(chunk)))
        count_rows(len(chunk))
