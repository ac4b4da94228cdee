"""A filtered list as CSV or JSON lines: streamed, row by row, without what is hidden."""

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
from verdicts.admin.permissions import need

if TYPE_CHECKING:
    from verdicts.admin.record import RecordAdmin

CHUNK: Final = 1000
_TYPES: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


class Column(NamedTuple):
    name: str
    field: str
    hashed: bool = False  # a session's id, for those who must not have it

    def read(self, value: Any) -> Any:
        return short_hash(value) if self.hashed and value else value


def export(model_admin: "RecordAdmin", request: HttpRequest, form: str) -> HttpResponse:
    """The list that is on the screen, all of its pages."""
    opts = model_admin.opts
    need(request, f"{opts.app_label}.view_{opts.model_name}")
    if form not in _TYPES:
        raise Http404
    try:
        rows = model_admin.get_changelist_instance(request).get_queryset(request)
    except IncorrectLookupParameters:
        return HttpResponse("No such filter.", status=400, content_type="text/plain")
    columns = columns_of(model_admin, request)
    found = rows.values_list(*(column.field for column in columns)).iterator(chunk_size=CHUNK)
    record_action(
        session_id="",
        action=f"export {opts.model_name} {form}",
        who=request.user.get_username(),
        reason=filters(model_admin, request),
    )
    response = StreamingHttpResponse(_FORMS[form](columns, found), content_type=_TYPES[form])
    name = f"{opts.model_name}-{timezone.now():%Y%m%d-%H%M}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response  # type: ignore[return-value]  # Django takes either


def filters(model_admin: "RecordAdmin", request: HttpRequest) -> str:
    """The list's filters for the record; not what was searched for, which is a customer's."""
    offered = set(model_admin.lookups(request))
    return "&".join(
        f"{name}={value if name in offered else '…'}" for name, value in request.GET.items()
    )


def columns_of(model_admin: "RecordAdmin", request: HttpRequest) -> list[Column]:
    """Every field of the record, in its order, that this person gets to see."""
    hidden = model_admin.hidden(request)
    found = []
    for field in model_admin.opts.concrete_fields:
        if field.name not in hidden:
            found.append(Column(field.attname, field.attname))
        elif field.name == "session_id":
            found.append(Column("session", field.attname, hashed=True))
    return found


def as_csv(columns: list[Column], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow([column.name for column in columns])
    for row in rows:
        values = (column.read(value) for column, value in zip(columns, row, strict=True))
        yield writer.writerow([cell(value) for value in values])


def as_jsonl(columns: list[Column], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    for row in rows:
        pairs = zip(columns, row, strict=True)
        line = {column.name: column.read(value) for column, value in pairs}
        yield json.dumps(line, cls=DjangoJSONEncoder) + "\n"


def cell(value: Any) -> str:
    """The value as text that no spreadsheet runs."""
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        # Separators occur only inside strings, so the result is still JSON.
        return escape_formulas(json.dumps(value, cls=DjangoJSONEncoder))
    text = str(value.isoformat() if hasattr(value, "isoformat") else value)
    return escape_formulas(text) if isinstance(value, str) else text


class _Echo:
    """A file that hands back what is written to it, for the csv module."""

    def write(self, text: str) -> str:
        return text


_FORMS: Final = {"csv": as_csv, "jsonl": as_jsonl}
