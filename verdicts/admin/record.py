"""How a record is listed, found, read and exported: seen by the right people, changed by nobody.

Every list of the console is one of these. Superusers have no way around it:
what is refused here is refused by URL and in bulk as well.
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
from verdicts.admin.capped_paginator import BoundedPaginator
from verdicts.admin.export import export
from verdicts.admin.permissions import CUSTOMER, EVIDENCE, allowed

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
    UnfoldList = ChangeList
else:
    Base = ModelAdmin
    UnfoldList = UnfoldChangeList


class RecordList(UnfoldList):
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # How many there are is told below the list, as far as it is known.
        self.full_result_count = self.result_count


class RecordAdmin(Base):
    # Hidden from whoever lacks the permission: in lists, on pages and in exports.
    customer_fields: ClassVar[tuple[str, ...]] = ("session_id",)
    evidence_fields: ClassVar[tuple[str, ...]] = ()

    page_template: ClassVar[str] = ""
    ordering = ("-id",)
    sortable_by = ()  # by nothing that has no index
    list_per_page = 20
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each would count the whole table
    paginator = BoundedPaginator
    list_filter_submit = True
    change_list_template = "admin/record_list.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def hidden(self, request: HttpRequest) -> set[str]:
        """The fields that this person does not get to see."""
        hidden = set[str]()
        if not allowed(request, CUSTOMER):
            hidden |= {*self.customer_fields}
        if not allowed(request, EVIDENCE):
            hidden |= {*self.evidence_fields}
        return hidden

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        hidden = self.hidden(request)
        return [name for name in super().get_list_display(request) if name not in hidden]

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return sorted(self.hidden(request))

    @admin.display(description="session")
    def session(self, obj: Any) -> str:
        """What stands for the session where its id must not: the id is the key to a verdict."""
        return short_hash(obj.session_id) if obj.session_id else "–"

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        obj = super().get_object(request, object_id, from_field)
        order = getattr(obj, "order", None)
        set_log_session(getattr(obj, "session_id", "") or getattr(order, "session_id", ""))
        return obj

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RecordList

    # Finding

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """The newest first: by key, or by the day where only days are asked for.

        In that order the index has them: no more is read than a page.
        """
        asked = {name for name in self.lookups(request) if request.GET.get(name)}
        for one in self.get_list_filter(request):
            if isinstance(one, tuple) and asked and asked <= {f"{one[0]}_from", f"{one[0]}_to"}:
                return (f"-{one[0]}", "-id")
        return ("-id",)

    def find(self, request: HttpRequest, term: str) -> Q | None:
        """What a search means here: equality on an indexed column. None: nothing can fit."""
        return Q(pk=int(term)) if term.isdecimal() and len(term) < 19 else None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        wanted = self.find(request, term)
        return (queryset.none() if wanted is None else queryset.filter(wanted)), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Only the filters that are offered: `?email__startswith=` would read what is hidden."""
        return lookup in set(self.lookups(request)) and "\0" not in str(value)

    def lookups(self, request: HttpRequest) -> Iterator[str]:
        for one in self.get_list_filter(request):
            if isinstance(one, str):
                yield from (f"{one}__exact", f"{one}__isnull")
            elif isinstance(one, tuple):
                yield from (f"{one[0]}_from", f"{one[0]}_to")
            else:
                yield str(getattr(one, "parameter_name", ""))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Django's own list of changes: nobody makes any, and it tells whose numbers exist."""
        raise Http404

    # A page of its own

    def page(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """What `page_template` shows beside the record itself."""
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
        return self.render(request, self.page_template, obj, **self.page(request, obj))

    def render(
        self, request: HttpRequest, template: str, obj: Any = None, **context: Any
    ) -> HttpResponse:
        """One of our own pages, in the console's frame."""
        framed = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": obj,
            "title": str(obj).capitalize(),
            "may_see_customer": allowed(request, CUSTOMER),
            "may_see_evidence": allowed(request, EVIDENCE),
            **context,
        }
        return TemplateResponse(request, template, framed)

    # Exporting

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        mine = path("export.<str:form>", self.admin_site.admin_view(self.export_view), name=name)
        return [mine, *super().get_urls()]

    def export_view(self, request: HttpRequest, form: str) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        return export(self, request, form)
