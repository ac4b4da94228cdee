"""Reports and lists by index alone, and R14's rate by days that were counted before.

The days that are over are counted here once; the sweep counts those to come.
"""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import TruncDate


def count_equal_terms(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    events = apps.get_model("audit", "DivergenceEvent").objects.filter(
        same_inputs=True, skipped=False, smoke=False
    )
    day_count = apps.get_model("audit", "DayCount")
    days = events.annotate(day=TruncDate("created_at")).values_list("day", "level")
    day_count.objects.bulk_create(
        [
            day_count(day=day, name="equal terms", tier="", key=level, count=count)
            for day, level, count in days.annotate(n=models.Count("pk")).order_by()
        ],
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):
    dependencies = [("audit", "0009_smoke")]
    operations = [
        migrations.RemoveIndex(model_name="modelcall", name="call_unanswered"),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(fields=["outcome", "id"], name="call_outcome"),
        ),
        migrations.RemoveIndex(model_name="divergenceevent", name="divergence_rate"),
        migrations.RemoveIndex(model_name="divergenceevent", name="divergence_day"),
        migrations.AddIndex(
            model_name="divergenceevent",
            index=models.Index(
                fields=[
                    "created_at",
                    "tier",
                    "level",
                    "skipped",
                    "same_inputs",
                    "smoke",
                    "causes",
                ],
                name="divergence_day",
            ),
        ),
        migrations.AddIndex(
            model_name="divergenceevent",
            index=models.Index(fields=["level", "id"], name="divergence_level"),
        ),
        migrations.RunPython(count_equal_terms, migrations.RunPython.noop),
    ]
