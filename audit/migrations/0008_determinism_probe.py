"""Probes of how far the model agrees with itself."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0007_erasure"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeterminismProbe",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "tier",
                    models.CharField(
                        choices=[("quick", "quick"), ("full", "full"), ("strategy", "strategy")],
                        max_length=8,
                    ),
                ),
                ("model", models.CharField(max_length=100)),
                ("prompt_sha256", models.CharField(max_length=64)),
                ("temperature", models.FloatField(null=True)),
                ("seed", models.BigIntegerField(null=True)),
                ("asked", models.PositiveIntegerField()),
                ("unanswered", models.PositiveIntegerField()),
                ("rejected", models.PositiveIntegerField(help_text="by the gate")),
                ("compared", models.PositiveIntegerField(help_text="answers beside the first")),
                ("same_label", models.PositiveIntegerField()),
                (
                    "same_dimensions",
                    models.PositiveIntegerField(help_text="empty: the tier has none", null=True),
                ),
                ("same_text", models.PositiveIntegerField()),
                ("distinct_texts", models.PositiveIntegerField()),
                (
                    "low",
                    models.FloatField(help_text="95% interval of the share with the same label"),
                ),
                ("high", models.FloatField()),
                ("model_versions", models.JSONField()),
                ("prompt_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
    ]
