"""Whoever sees the records sees the probes as well."""

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def let_see(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    # Django makes permissions only after all migrations: too late to hand them out.
    config = apps.get_app_config("audit")
    config.models_module = True  # type: ignore[assignment]  # or nothing is made
    create_permissions(config, apps=apps, verbosity=0)
    config.models_module = None
    view = apps.get_model("auth", "Permission").objects.get(
        content_type__app_label="audit", codename="view_determinismprobe"
    )
    for group in apps.get_model("auth", "Group").objects.filter(
        name__in=["Operator", "Reviewer", "NOUS"]
    ):
        group.permissions.add(view)


class Migration(migrations.Migration):
    dependencies = [
        ("verdicts", "0008_open_cases"),
        ("audit", "0008_determinism_probe"),
    ]
    operations = [migrations.RunPython(let_see, migrations.RunPython.noop)]
