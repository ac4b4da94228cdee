"""List filters whose choices need no query, and that an index can serve."""

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


MAX_DAY = date(9999, 12, 30)  # the day after it must be a valid date too


class DayRange(RangeFilter):
    """From a day to a day, both included, in UTC."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        start = _day(self.used_parameters.get(f"{self.field_path}_from"))
        end = _day(self.used_parameters.get(f"{self.field_path}_to"))
        if start:
            queryset = queryset.filter(**{f"{self.field_path}__gte": start})
        if end:
            queryset = queryset.filter(**{f"{self.field_path}__lt": end + timedelta(days=1)})
        return queryset


def _day(text: object) -> datetime | None:
    try:
        day = date.fromisoformat(str(text))
    except ValueError:
        return None
    return datetime.combine(min(day, MAX_DAY), time.min, tzinfo=UTC)


def equality_filter(
    name: str, values: Iterable[str], *, title: str = "", **implied: bool
) -> type[SimpleListFilter]:
    """A filter by equality, over known values.

    `implied` are conditions that hold for all these values: with them the query can use a
    partial index.
    """
    choices = [(value, value.replace("_", " ")) for value in values]
    heading = title or name.replace("_", " ")

    class EqualityFilter(SimpleListFilter):
        title = heading
        parameter_name = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return choices

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any] | None:
            return queryset.filter(**{name: self.value()}, **implied) if self.value() else None

    return EqualityFilter
