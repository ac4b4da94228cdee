from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The gate and the audit log. Does not depend on orders, payments or pages."""

    name = "audit"
    verbose_name = "Judgement and record"
