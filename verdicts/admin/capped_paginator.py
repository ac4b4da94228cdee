"""Pagination of tables that may have millions of rows, without counting them all."""

from typing import TYPE_CHECKING, Any, Final

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.utils.functional import cached_property

if TYPE_CHECKING:
    Base = Paginator[Any]
else:
    Base = Paginator  # not generic at run time

MAX_LISTED: Final = 10_000  # for more, staff filter, search or export


class CappedPaginator(Base):
    template_name = "admin/record_count.html"

    @cached_property
    def count(self) -> int:
        """The number of listed rows, at most MAX_LISTED."""
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            return len(rows)
        if self.estimate:
            return MAX_LISTED
        # Ordered like the list, so that both databases use the index that the list itself uses.
        return rows[:MAX_LISTED].count()

    @cached_property
    def estimate(self) -> int | None:
        """PostgreSQL's estimate of an unfiltered table's rows; None if unknown or not capped."""
        rows = self.object_list
        if connection.vendor != "postgresql" or not isinstance(rows, QuerySet) or rows.query.where:
            return None
        with connection.cursor() as cursor:
            table = rows.query.get_meta().db_table
            cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
            estimated = int(cursor.fetchone()[0])
        return estimated if estimated > MAX_LISTED else None

    @property
    def is_capped(self) -> bool:
        return self.count == MAX_LISTED
