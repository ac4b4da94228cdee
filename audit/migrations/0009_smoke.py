"""What comes of a smoke test is marked, and the indexes of the figures know it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0008_determinism_probe"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="crosschecklog", name="crosscheck_day"),
        migrations.RemoveIndex(model_name="divergenceevent", name="divergence_rate"),
        migrations.RemoveIndex(model_name="modelcall", name="call_day"),
        migrations.AddField(
            model_name="crosschecklog",
            name="smoke",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="divergenceevent",
            name="smoke",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="modelcall",
            name="smoke",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="crosschecklog",
            index=models.Index(
                fields=["created_at", "kind", "tier", "crosscheck_reason", "smoke"],
                name="crosscheck_day",
            ),
        ),
        migrations.AddIndex(
            model_name="divergenceevent",
            index=models.Index(
                condition=models.Q(("same_inputs", True), ("skipped", False), ("smoke", False)),
                fields=["created_at", "level"],
                name="divergence_rate",
            ),
        ),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(fields=["created_at", "tier", "kind", "smoke"], name="call_day"),
        ),
    ]
