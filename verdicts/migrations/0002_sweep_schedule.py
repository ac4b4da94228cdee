"""The sweep runs by itself, every minute, on the queue that waits for no model."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "sweep"


def schedule(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name=NAME,
        defaults={
            "func": "verdicts.tasks.sweep",
            "schedule_type": "I",
            "minutes": 1,
            "repeats": -1,
            "cluster": "post",
        },
    )


def unschedule(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("verdicts", "0001_orders"),
        ("django_q", "0018_task_success_index"),
    ]
    operations = [migrations.RunPython(schedule, unschedule)]
