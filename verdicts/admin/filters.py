"""Filters that cost no look through the table to be offered, and mean days where they say days."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter

if TYPE_CHECKING:
    RangeFilter = admin.FieldListFilter
else:
    RangeFilter = RangeDateFilter


LAST_DAY = date(9999, 12, 30)


class DayRange(RangeFilter):
    """From a day to a day, both of them included; UTC, like everything on record."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        begin = _day(self.used_parameters.get(f"{self.field_path}_from"))
        end = _day(self.used_parameters.get(f"{self.field_path}_to"))
        if begin:
            queryset = queryset.filter(**{f"{self.field_path}__gte": begin})
        if end:
            queryset = queryset.filter(**{f"{self.field_path}__lt": end + timedelta(days=1)})
        return queryset


def _day(text: object) -> datetime | None:
    try:
        day = date.fromisoformat(str(text))
    except ValueError:
        return None
    # No database's calendar ends with a day that has a next one.
    return datetime.combine(min(day, LAST_DAY), time.min, tzinfo=UTC)


def one_of(
    name: str, values: Iterable[str], *, heading: str = "", **implied: bool
) -> type[SimpleListFilter]:
    """A filter by equality over values that are known without asking the table.

    What each of them implies is asked for too, so that an index of such rows alone is used.
    """
    offered = [(value, value.replace("_", " ")) for value in values]

    class OneOf(SimpleListFilter):
        title = heading or name.replace("_", " ")
        parameter_name = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return offered

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
            return queryset.filter(**{name: self.value()}, **implied) if self.value() else None

    return OneOf
