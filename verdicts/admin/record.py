"""The base class of the console's lists: search, filters, permissions and export, read-only.

It applies to superusers too, and to requests by URL and in bulk.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin
from unfold.views import ChangeList as UnfoldChangeList

from audit.core.redaction import short_hash
from audit.log_context import set_log_session
from verdicts.admin.capped_paginator import CappedPaginator
from verdicts.admin.export import export
from verdicts.admin.permissions import VIEW_CUSTOMER, VIEW_EVIDENCE, is_allowed

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
    UnfoldList = ChangeList
else:
    Base = ModelAdmin
    UnfoldList = UnfoldChangeList


class RecordChangeList(UnfoldList):
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # The paginator shows the total, as far as it is known.
        self.full_result_count = self.result_count


class RecordAdmin(Base):
    # Hidden in lists, on pages and in exports from users without the permission.
    customer_fields: ClassVar[tuple[str, ...]] = ("session_id",)
    evidence_fields: ClassVar[tuple[str, ...]] = ()

    page_template: ClassVar[str] = ""
    sortable_by = ()  # most columns have no index
    list_per_page = 20
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each facet counts the whole table
    paginator = CappedPaginator
    list_filter_submit = True
    change_list_template = "admin/record_list.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def hidden_fields(self, request: HttpRequest) -> set[str]:
        """The fields that the user may not see."""
        hidden = set[str]()
        if not is_allowed(request, VIEW_CUSTOMER):
            hidden |= {*self.customer_fields}
        if not is_allowed(request, VIEW_EVIDENCE):
            hidden |= {*self.evidence_fields}
        return hidden

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        hidden = self.hidden_fields(request)
        return [name for name in super().get_list_display(request) if name not in hidden]

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return sorted(self.hidden_fields(request))

    @admin.display(description="session")
    def session(self, obj: Any) -> str:
        """A hash in place of the session id, which gives access to the verdict."""
        return short_hash(obj.session_id) if obj.session_id else "–"

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        obj = super().get_object(request, object_id, from_field)
        order = getattr(obj, "order", None)
        set_log_session(getattr(obj, "session_id", "") or getattr(order, "session_id", ""))
        return obj

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RecordChangeList

    # Search and filters

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Newest first: by id, or by the date if that is the only filter.

        That is the order of an index, so the query reads one page of rows.
        """
        active = {name for name in self.allowed_lookups(request) if request.GET.get(name)}
        for spec in self.get_list_filter(request):
            if isinstance(spec, tuple) and active and active <= set(_range_lookups(spec[0])):
                return (f"-{spec[0]}", "-id")
        return ("-id",)

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        """The condition of a search, on an indexed column. None: no row can match."""
        return Q(pk=int(term)) if term.isdecimal() and len(term) < 19 else None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        condition = self.search_filter(request, term)
        return (queryset.none() if condition is None else queryset.filter(condition)), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Only the offered filters: `?email__startswith=` would reveal hidden fields."""
        return lookup in set(self.allowed_lookups(request)) and "\0" not in str(value)

    def allowed_lookups(self, request: HttpRequest) -> Iterator[str]:
        """The URL parameters of the list's filters."""
        for spec in self.get_list_filter(request):
            if isinstance(spec, str):
                yield from (f"{spec}__exact", f"{spec}__isnull")
            elif isinstance(spec, tuple):
                yield from _range_lookups(spec[0])
            else:
                yield str(getattr(spec, "parameter_name", ""))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Disabled: records have no changes, and the page would reveal which ids exist."""
        raise Http404

    # Detail page

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """The variables of `page_template`."""
        return {}

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if not self.page_template:
            return super().change_view(request, object_id, form_url, extra_context)
        obj = self.get_object(request, unquote(object_id))
        if request.method != "GET" or not self.has_view_permission(request, obj):
            raise PermissionDenied
        if obj is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id}.")
        return self.render(request, self.page_template, obj, **self.page_context(request, obj))

    def render(
        self, request: HttpRequest, template: str, obj: Any = None, **context: Any
    ) -> HttpResponse:
        """A page of our own with the console's header and sidebar."""
        full_context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": obj,
            "title": str(obj).capitalize(),
            "may_see_customer": is_allowed(request, VIEW_CUSTOMER),
            "may_see_evidence": is_allowed(request, VIEW_EVIDENCE),
            **context,
        }
        return TemplateResponse(request, template, full_context)

    # Export

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        export_url = path(
            "export.<str:form>", self.admin_site.admin_view(self.export_view), name=name
        )
        return [export_url, *super().get_urls()]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        return export(self, request, form)


def _range_lookups(field: object) -> tuple[str, str]:
    return f"{field}_from", f"{field}_to"
