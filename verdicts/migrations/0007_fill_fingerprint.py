"""The fingerprint of each verdict from before it was stored."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from verdicts.core.body import fingerprint

BATCH = 500


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    verdicts = apps.get_model("verdicts", "Verdict").objects
    while batch := list(verdicts.filter(fingerprint="").only("payload")[:BATCH]):
        for verdict in batch:
            verdict.fingerprint = fingerprint(verdict.payload)
        verdicts.bulk_update(batch, ["fingerprint"])


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0006_fingerprint")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
