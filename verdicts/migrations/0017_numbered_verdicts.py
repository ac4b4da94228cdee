"""Ready-made answers by their session's number, in a table beside the one that they are in."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from verdicts.models.session_number import SessionNumber

# See 0012.
AS_IT_IS = "ALTER TABLE verdicts_numberedverdict SET (toast_tuple_target = 8160)"


def keep_as_it_is(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(AS_IT_IS)


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0016_filters_by_index")]
    operations = [
        migrations.CreateModel(
            name="NumberedVerdict",
            fields=[
                ("id", SessionNumber(serialize=False)),
                ("session_id", models.CharField(max_length=255)),
                ("approved", models.BooleanField(default=False)),
                ("body", models.TextField()),
                ("etag", models.CharField(max_length=64)),
                ("expires_at", models.BigIntegerField(null=True)),
                ("cached_at", models.DateTimeField()),
                (
                    "verdict",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="verdicts.verdict"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["session_id"], name="one_answer_per_session")
                ]
            },
        ),
        migrations.RunPython(keep_as_it_is, migrations.RunPython.noop),
    ]
