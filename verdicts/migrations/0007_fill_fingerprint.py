"""The fingerprint of each verdict from before it was stored."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from verdicts.core.response_body import fingerprint

BATCH = 500


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    verdicts = apps.get_model("verdicts", "Verdict").objects
    done = 0
    while batch := list(verdicts.filter(pk__gt=done).order_by("pk").only("payload")[:BATCH]):
        for verdict in batch:
            verdict.fingerprint = fingerprint(verdict.payload)
        verdicts.bulk_update(batch, ["fingerprint"])
        done = batch[-1].pk


class Migration(migrations.Migration):
    atomic = False  # a batch at a time, so that no verdict is held for long
    dependencies = [("verdicts", "0006_fingerprint")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
