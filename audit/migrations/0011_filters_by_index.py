"""Comparisons by cause and by tier, rejections by reason: without a look at all of them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0010_as_it_grows")]
    operations = [
        migrations.AddIndex(
            model_name="crosschecklog",
            index=models.Index(
                fields=["crosscheck_reason", "id"],
                name="crosscheck_reason",
                condition=models.Q(approved=False),
            ),
        ),
        migrations.AddIndex(
            model_name="divergenceevent",
            index=models.Index(fields=["tier", "id"], name="divergence_tier"),
        ),
        migrations.AddIndex(
            model_name="divergenceevent",
            index=models.Index(fields=["causes", "id"], name="divergence_causes"),
        ),
    ]
