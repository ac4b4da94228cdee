"""Rows of one table that differ in a few columns only, prepared for COPY and executemany.

Columns, and the values of those not given, come from the model: a column that is added
later gets its default here too.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.db.models.expressions import DatabaseDefault
from django.utils import timezone

Row = tuple[object, ...]
Rows = Callable[[range], Iterable[Row]]


@dataclass(frozen=True)
class RowSet:
    """`rows` yields the values of the `varying` columns for a range of order numbers.

    Values are text or numbers, never None: rows without a value need a row set of their own.
    """

    model: type[models.Model]
    varying: str  # column names, separated by spaces
    rows: Rows
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return self.model._meta.db_table  # noqa: SLF001 - the name Django documents

    @property
    def varying_columns(self) -> list[str]:
        return self.varying.split()

    def fixed_columns(self) -> dict[str, Any]:
        """The columns with the same value in every row, defaults included."""
        found: dict[str, Any] = {}
        for one in self.model._meta.concrete_fields:  # noqa: SLF001 - likewise
            name = str(one.column)
            if name in self.varying_columns or (one.primary_key and name not in self.fixed):
                continue
            value = self.fixed[name] if name in self.fixed else _default(one)
            if not isinstance(value, DatabaseDefault):
                found[name] = value
        return found

    def copy_statement(self) -> str:
        columns = ", ".join(f'"{name}"' for name in (*self.varying_columns, *self.fixed_columns()))
        return f'COPY "{self.table}" ({columns}) FROM STDIN'

    def copy_line(self) -> str:
        """A line in COPY's text format, with `%s` for each varying column."""
        fixed = [copy_text(value).replace("%", "%%") for value in self.fixed_columns().values()]
        return "\t".join(["%s"] * len(self.varying_columns) + fixed) + "\n"

    def insert_statement(self) -> tuple[str, Row]:
        """The INSERT statement, and the fixed values to append to each of `rows`."""
        fixed = self.fixed_columns()
        columns = ", ".join(f'"{name}"' for name in (*self.varying_columns, *fixed))
        placeholders = ", ".join("?" * (len(self.varying_columns) + len(fixed)))
        values = tuple(_sqlite_value(value) for value in fixed.values())
        statement = f'INSERT INTO "{self.table}" ({columns}) VALUES ({placeholders})'  # noqa: S608 - our own names
        return statement, values


def copy_text(value: object) -> str:
    """A value in COPY's text format."""
    if value is None:
        return r"\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    text = json.dumps(value) if isinstance(value, dict | list) else str(value)
    return copy_escaped(text)


def copy_escaped(text: str) -> str:
    text = text.replace("\\", "\\\\")
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _sqlite_value(value: object) -> object:
    if isinstance(value, dict | list):
        return json.dumps(value)
    return int(value) if isinstance(value, bool) else value


def _default(one: "models.Field[Any, Any]") -> Any:
    if one.has_default() or one.has_db_default():
        value = one.get_default()
        return value if isinstance(value, DatabaseDefault) else one.get_prep_value(value)
    if one.null:
        return None
    if getattr(one, "auto_now_add", False) or getattr(one, "auto_now", False):
        return timezone.now().replace(tzinfo=None).isoformat(" ")
    if one.empty_strings_allowed:
        return ""
    raise ValueError(
        f"{one.model.__name__}.{one.name} has no default: add it to `fixed` or `varying`"
    )
