"""Export of a filtered list as CSV or JSON lines: streamed, without hidden fields."""

import csv
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django.contrib.admin.options import IncorrectLookupParameters
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone

from audit.actions import record_action
from audit.core.redaction import short_hash
from audit.core.spreadsheet import escape_formulas
from verdicts.admin.permissions import require

if TYPE_CHECKING:
    from verdicts.admin.record import RecordAdmin

CHUNK_SIZE: Final = 1000
_CONTENT_TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}


class Column(NamedTuple):
    name: str
    field: str
    hashed: bool = False  # a session id, for users without the permission to see it

    def read(self, value: Any) -> Any:
        return short_hash(value) if self.hashed and value else value


def export(model_admin: "RecordAdmin", request: HttpRequest, format_name: str) -> HttpResponse:
    """All pages of the list with the request's filters, and an action that records the export."""
    opts = model_admin.opts
    require(request, f"{opts.app_label}.view_{opts.model_name}")
    if format_name not in _CONTENT_TYPES:
        raise Http404
    try:
        rows = model_admin.get_changelist_instance(request).get_queryset(request)
    except IncorrectLookupParameters:
        return HttpResponse("No such filter.", status=400, content_type="text/plain")
    columns = columns_of(model_admin, request)
    values = rows.values_list(*(column.field for column in columns)).iterator(chunk_size=CHUNK_SIZE)
    record_action(
        session_id="",
        action=f"export {opts.model_name} {format_name}",
        who=request.user.get_username(),
        reason=recorded_filters(model_admin, request),
    )
    response = StreamingHttpResponse(
        _FORMATS[format_name](columns, values), content_type=_CONTENT_TYPES[format_name]
    )
    name = f"{opts.model_name}-{timezone.now():%Y%m%d-%H%M}.{format_name}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response  # type: ignore[return-value]  # Django takes either


def recorded_filters(model_admin: "RecordAdmin", request: HttpRequest) -> str:
    """The list's filters; search terms are masked, as they may identify a customer."""
    filters = set(model_admin.allowed_lookups(request))
    return "&".join(
        f"{name}={value if name in filters else '…'}" for name, value in request.GET.items()
    )


def columns_of(model_admin: "RecordAdmin", request: HttpRequest) -> list[Column]:
    """The fields that the user may see, in the model's order."""
    hidden = model_admin.hidden_fields(request)
    columns = []
    for field in model_admin.opts.concrete_fields:
        if field.name not in hidden:
            columns.append(Column(field.attname, field.attname))
        elif field.name == "session_id":
            columns.append(Column("session", field.attname, hashed=True))
    return columns


def as_csv(columns: list[Column], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow([column.name for column in columns])
    for row in rows:
        values = (column.read(value) for column, value in zip(columns, row, strict=True))
        yield writer.writerow([csv_cell(value) for value in values])


def as_jsonl(columns: list[Column], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    for row in rows:
        pairs = zip(columns, row, strict=True)
        line = {column.name: column.read(value) for column, value in pairs}
        yield json.dumps(line, cls=DjangoJSONEncoder) + "\n"


def csv_cell(value: Any) -> str:
    """The value as text that no spreadsheet evaluates as a formula."""
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        return escape_formulas(
            json.dumps(value, cls=DjangoJSONEncoder)
        )  # changes only strings: still valid JSON
    text = str(value.isoformat() if hasattr(value, "isoformat") else value)
    return escape_formulas(text) if isinstance(value, str) else text


class _Echo:
    """A pseudo file for the csv module: `write` returns the line instead of storing it."""

    def write(self, text: str) -> str:
        return text


_FORMATS: Final = {"csv": as_csv, "jsonl": as_jsonl}
