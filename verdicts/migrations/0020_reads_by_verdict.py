"""Reads are counted by what was shown: a number, and no longer the key to a verdict."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_BATCHES = "Reads"  # renamed since


def by_verdict(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """What waits to be added up. A session without a verdict was never read from the cache."""
    verdicts = apps.get_model("verdicts", "Verdict").objects
    batches: Any = apps.get_model("verdicts", _BATCHES).objects
    for batch in batches.iterator(chunk_size=10):
        known = verdicts.filter(order__session_id__in=batch.sessions)
        one_of = dict(known.values_list("order__session_id", "pk"))  # any of an order's will do
        batch.verdicts = {str(pk): batch.sessions[session] for session, pk in one_of.items()}
        batch.save()


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0019_verdicts_by_number")]
    operations = [
        migrations.AddField(
            model_name="reads",
            name="verdicts",
            field=models.JSONField(default=dict, help_text="answers from the cache, by verdict"),
        ),
        migrations.RunPython(by_verdict, migrations.RunPython.noop),
        migrations.RemoveField(model_name="reads", name="sessions"),
    ]
