"""Displayed labels in plain terms; no change to the tables."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0011_filters_by_index"),
    ]

    operations = [
        migrations.AlterField(
            model_name="determinismprobe",
            name="compared",
            field=models.PositiveIntegerField(help_text="answers compared with the first"),
        ),
        migrations.AlterField(
            model_name="divergenceevent",
            name="causes",
            field=models.JSONField(help_text="possible causes of a difference (R14)"),
        ),
        migrations.AlterField(
            model_name="modelcall",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("answered", "answered"),
                    ("busy", "busy or unreachable"),
                    ("refused", "refused the request"),
                    ("retired", "model retired"),
                    ("crashed", "our own error"),
                ],
                max_length=8,
            ),
        ),
    ]
