"""The house reconciles by itself, every hour, and remembers when it last did.

Events that are not acted on give up what was stored of them beside id and type:
nobody reads it, and it may hold a customer.
"""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "reconcile"
ACTED_ON = (
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed",
    "checkout.session.expired",
    "charge.refunded",
)


def schedule(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.get_or_create(
        name=NAME,
        defaults={
            "func": "verdicts.tasks.reconcile",
            "schedule_type": "H",
            "repeats": -1,
            "cluster": "post",
        },
    )


def unschedule(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


def forget(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    events = apps.get_model("verdicts", "StripeEvent").objects
    events.exclude(type__in=ACTED_ON).exclude(object="{}").update(object="{}")


class Migration(migrations.Migration):
    dependencies = [
        ("verdicts", "0010_smoke"),
        ("django_q", "0018_task_success_index"),
    ]
    operations = [
        migrations.CreateModel(
            name="Reconciled",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("looked_at", models.DateTimeField()),
            ],
        ),
        migrations.AlterField(
            model_name="delivery",
            name="kind",
            field=models.CharField(
                choices=[
                    ("verdict", "verdict"),
                    ("held_back", "held back"),
                    ("refund", "refund"),
                    ("staff", "to staff"),
                    ("retired", "model retired, to staff"),
                    ("divergence", "divergence notice"),
                    ("escalation", "variance above the line, to staff"),
                    ("unreconciled", "Stripe's books out of reach, to staff"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(schedule, unschedule),
        migrations.RunPython(forget, migrations.RunPython.noop),
    ]
