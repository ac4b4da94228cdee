"""Lists without a page of their own: verdicts, emails, Stripe events, model calls, actions, log."""

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from audit.models import Action, Escalation, LogEntry, ModelCall
from verdicts.admin.filters import DayRange
from verdicts.admin.record import RecordAdmin
from verdicts.models import Delivery, StripeEvent, Verdict


@admin.register(Verdict)
class VerdictAdmin(RecordAdmin):
    customer_fields = ("payload",)
    list_display = ("id", "label", "kind", "order", "fingerprint", "created_at")
    list_filter = ("label", ("created_at", DayRange))
    list_select_related = ("order",)
    search_fields = ("fingerprint",)
    search_help_text = "Number or fingerprint"

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        number = super().search_filter(request, term)
        return Q(fingerprint=term.lower()) | (number or Q(pk=None))


@admin.register(Delivery)
class DeliveryAdmin(RecordAdmin):
    customer_fields = ()
    list_display = ("id", "kind", "state", "order", "attempts", "sent_at", "error")
    list_filter = ("kind", "state")
    list_select_related = ("order",)
    search_fields = ("message_id",)
    search_help_text = "Number or Message-ID"

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return super().search_filter(request, term) or Q(message_id=term)


class UnprocessedFilter(admin.SimpleListFilter):
    title = "processed"
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "not yet")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(processed_at=None) if self.value() else None


@admin.register(StripeEvent)
class StripeEventAdmin(RecordAdmin):
    customer_fields = ("object",)  # contains the customer's email address and query
    list_display = ("event_id", "type", "received_at", "processed_at", "outcome")
    list_filter = (UnprocessedFilter,)
    search_fields = ("event_id",)
    search_help_text = "Stripe event id"

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """The order of the partial index of unprocessed events: SQLite uses it for no other."""
        return ("-received_at", "-id") if request.GET.get("waiting") else ("-id",)

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return Q(event_id=term)


@admin.register(ModelCall)
class ModelCallAdmin(RecordAdmin):
    list_display = (
        "id",
        "outcome",
        "kind",
        "tier",
        "model",
        "duration_ms",
        "session",
        "created_at",
        "error",
    )
    list_filter = ("outcome", ("created_at", DayRange))
    search_fields = ("session_id",)
    search_help_text = "Number or session id"

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return super().search_filter(request, term) or Q(session_id=term)


@admin.register(Escalation)
class EscalationAdmin(RecordAdmin):
    customer_fields = ()
    list_display = ("day", "diverged", "checked", "low", "high")


@admin.register(Action)
class ActionAdmin(RecordAdmin):
    list_display = ("created_at", "action", "who", "reason", "session")
    search_fields = ("session_id",)
    search_help_text = "Session id"

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return Q(session_id=term)


class UnwrittenFilter(UnprocessedFilter):
    title = "written to the file"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(written_at=None) if self.value() else None


@admin.register(LogEntry)
class LogEntryAdmin(RecordAdmin):
    customer_fields = ("entry", "salt")  # contain a session id and the beginning of a query
    list_display = ("public_id", "host", "sequence", "created_at", "written_at", "failures")
    list_filter = (UnwrittenFilter,)
    search_fields = ("public_id",)
    search_help_text = "Entry id"

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """The order of the partial index of unwritten entries."""
        return ("-host", "-id") if request.GET.get("waiting") else ("-id",)

    def search_filter(self, request: HttpRequest, term: str) -> Q | None:
        return Q(public_id=term.lower())
