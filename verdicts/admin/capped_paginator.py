"""Pages of a list that may have millions of rows: counted only as far as anybody pages."""

from typing import TYPE_CHECKING, Any, Final

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.utils.functional import cached_property

if TYPE_CHECKING:
    Base = Paginator[Any]
else:
    Base = Paginator  # takes no parameter at run time

LISTED: Final = 10_000  # further down nobody pages: they filter, search or export


class BoundedPaginator(Base):
    template_name = "admin/record_count.html"

    @cached_property
    def count(self) -> int:
        """How many rows are paged through."""
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        if self.estimate:  # more than anybody pages: not worth counting
            return LISTED
        # In the list's own order: it leads both databases to the index that the list is read by.
        return rows[:LISTED].count()

    @cached_property
    def estimate(self) -> int | None:
        """How many there are where more are there than are listed; None: not known."""
        rows = self.object_list
        if connection.vendor != "postgresql" or not isinstance(rows, QuerySet) or rows.query.where:
            return None
        with connection.cursor() as cursor:
            table = rows.query.get_meta().db_table
            cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
            known = int(cursor.fetchone()[0])
        return known if known > LISTED else None

    @property
    def is_cut(self) -> bool:
        return self.count == LISTED
