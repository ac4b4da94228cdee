from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The judgement and the record. Knows nothing of orders, payments or pages."""

    name = "audit"
    verbose_name = "Judgement and record"
