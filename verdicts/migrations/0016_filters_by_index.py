"""Emails by kind, orders by tier, verdicts by label and by day: without a look at all of them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0015_one_email_per_name")]
    operations = [
        migrations.AddIndex(
            model_name="order",
            index=models.Index(models.F("tier"), models.F("id"), name="order_tier"),
        ),
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(models.F("label"), models.F("id"), name="verdict_label"),
        ),
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(models.F("created_at"), name="verdict_day"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(models.F("kind"), models.F("id"), name="delivery_kind"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                models.F("kind"),
                models.F("closed_at"),
                name="case_closed_kind",
                condition=models.Q(closed_at__isnull=False),
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                models.F("outcome"),
                models.F("closed_at"),
                name="case_closed_outcome",
                condition=models.Q(closed_at__isnull=False),
            ),
        ),
    ]
