"""Which approved checks carry flags, for those from before it was stored."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    checks = apps.get_model("audit", "CrosscheckLog").objects
    checks.filter(approved=True, flagged=False).exclude(flags=[]).update(flagged=True)


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_flagged")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
