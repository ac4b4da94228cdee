"""Orders and what became of them, to be read. Nobody changes a record here."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django_q.models import Failure, OrmQ, Schedule, Success

from audit.models import Action, CrosscheckLog, DivergenceEvent, Escalation, ModelCall
from verdicts.models import Delivery, Order, StripeEvent, Verdict

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Model]
else:
    Base = admin.ModelAdmin  # takes no parameter at run time


class ReadOnlyAdmin(Base):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Order)
class OrderAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "tier", "email", "paid_at", "attempts", "reason")
    list_filter = ("status", "tier")
    search_fields = ("session_id", "email")


@admin.register(Verdict)
class VerdictAdmin(ReadOnlyAdmin):
    list_display = ("id", "order", "kind", "label", "created_at")
    list_filter = ("kind", "label")


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("id", "order", "kind", "state", "attempts", "sent_at", "error")
    list_filter = ("kind", "state")


@admin.register(StripeEvent)
class StripeEventAdmin(ReadOnlyAdmin):
    list_display = ("event_id", "type", "received_at", "processed_at", "outcome")
    list_filter = ("type",)


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "model", "outcome", "duration_ms", "created_at", "error")
    list_filter = ("outcome", "kind", "model")


@admin.register(CrosscheckLog)
class CrosscheckLogAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "tier", "approved", "coherence_score", "crosscheck_reason")
    list_filter = ("approved", "crosscheck_reason", "tier")

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """The text of a rejected output is for those who may see it (C15)."""
        return [] if request.user.has_perm("audit.view_evidence") else ["evidence"]


@admin.register(DivergenceEvent)
class DivergenceEventAdmin(ReadOnlyAdmin):
    list_display = ("id", "tier", "original_verdict", "regen_verdict", "level", "causes")
    list_filter = ("level", "skipped", "tier")


@admin.register(Escalation)
class EscalationAdmin(ReadOnlyAdmin):
    list_display = ("day", "diverged", "checked", "low", "high")


@admin.register(Action)
class ActionAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "action", "who", "reason")
    list_filter = ("action",)


# The queue's own forms run any function by its name: nobody gets one.
admin.site.unregister([Failure, OrmQ, Schedule, Success])
