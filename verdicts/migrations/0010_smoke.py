"""Orders of smoke tests are marked, and left out of the figures."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0009_smoke"),
        ("verdicts", "0009_see_probes"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="order", name="order_day"),
        migrations.AddField(
            model_name="order",
            name="smoke",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="order",
            index=models.Index(
                models.F("paid_at"),
                models.F("tier"),
                models.F("status"),
                models.F("smoke"),
                name="order_day",
            ),
        ),
        migrations.AddIndex(
            model_name="order",
            index=models.Index(
                models.F("id"), condition=models.Q(("smoke", True)), name="order_smoke"
            ),
        ),
    ]
