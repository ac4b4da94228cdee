"""A case for everything that needed a person before there were cases."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TO_STAFF = ("staff", "retired", "escalation")


def open_cases(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    cases = apps.get_model("verdicts", "Case").objects
    checks = apps.get_model("audit", "CrosscheckLog").objects
    waiting = apps.get_model("verdicts", "Order").objects.filter(
        status__in=["rejected", "failed", "held"], refunded_at=None, cases=None
    )
    for order in waiting.iterator():
        check = None
        if order.status == "rejected":
            mine = checks.filter(session_id=order.session_id, approved=False, case=None)
            check = mine.order_by("-pk").first()
        cases.create(kind=order.status, order=order, crosscheck=check)
    unsent = apps.get_model("verdicts", "Delivery").objects.filter(
        state__in=["failed", "uncertain"], cases=None
    )
    for delivery in unsent.exclude(kind__in=TO_STAFF).iterator():
        cases.create(kind="email", order=delivery.order, delivery=delivery)


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0007_fill_fingerprint")]
    operations = [
        migrations.RemoveIndex(model_name="order", name="order_email"),
        migrations.RunPython(open_cases, migrations.RunPython.noop),
    ]
