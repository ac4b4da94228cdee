"""Rows of one table that differ in a few columns only, ready for COPY and for executemany.

Columns come from the model, and so do the values of those that nobody names:
a column that is added later takes its default here too.
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
    """`rows` gives the values of `varying`, in that order, for some orders by number.

    They are text or numbers; what varies between a value and none are two row_sets.
    """

    model: type[models.Model]
    varying: str  # names with blanks between them
    rows: Rows
    same: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return self.model._meta.db_table  # noqa: SLF001 - the name Django documents

    @property
    def names(self) -> list[str]:
        return self.varying.split()

    def constants(self) -> dict[str, Any]:
        """The columns that every row has the same value in."""
        found: dict[str, Any] = {}
        for one in self.model._meta.concrete_fields:  # noqa: SLF001 - likewise
            name = str(one.column)
            if name in self.names or (one.primary_key and name not in self.same):
                continue
            value = self.same[name] if name in self.same else _default(one)
            if not isinstance(value, DatabaseDefault):
                found[name] = value
        return found

    def copy_statement(self) -> str:
        columns = ", ".join(f'"{name}"' for name in (*self.names, *self.constants()))
        return f'COPY "{self.table}" ({columns}) FROM STDIN'

    def copy_line(self) -> str:
        """A line of COPY's text format, with `%s` for what varies."""
        same = [copy_text(value).replace("%", "%%") for value in self.constants().values()]
        return "\t".join(["%s"] * len(self.names) + same) + "\n"

    def insert_statement(self) -> tuple[str, Row]:
        """What SQLite takes for each row, and the values that follow those of `rows`."""
        same = self.constants()
        columns = ", ".join(f'"{name}"' for name in (*self.names, *same))
        places = ", ".join("?" * (len(self.names) + len(same)))
        values = tuple(_sqlite_value(value) for value in same.values())
        return f'INSERT INTO "{self.table}" ({columns}) VALUES ({places})', values  # noqa: S608 - names of ours


def copy_text(value: object) -> str:
    """A value as COPY reads it."""
    if value is None:
        return r"\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    text = json.dumps(value) if isinstance(value, dict | list) else str(value)
    return escaped(text)


def escaped(text: str) -> str:
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
    raise ValueError(f"{one.model.__name__}.{one.name} has no default: say what its rows hold")
