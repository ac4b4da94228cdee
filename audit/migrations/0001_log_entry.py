from django.db import migrations, models

import audit.models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="LogEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=audit.models.new_public_id, max_length=32, unique=True
                    ),
                ),
                ("entry", models.TextField()),
                ("salt", models.CharField(blank=True, max_length=32)),
                ("commitment", models.CharField(blank=True, max_length=64)),
                ("host", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("written_at", models.DateTimeField(blank=True, null=True)),
                ("sequence", models.PositiveBigIntegerField(blank=True, null=True)),
                ("prev", models.CharField(blank=True, max_length=64)),
                ("hash", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "verbose_name": "log entry",
                "verbose_name_plural": "log entries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("written_at__isnull", True)),
                        fields=["host", "id"],
                        name="log_entry_pending",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("host", "sequence"), name="one_line_a_place"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("hash", ""), ("prev", ""), ("sequence", None), ("written_at", None)
                            ),
                            models.Q(
                                models.Q(("prev", ""), _negated=True),
                                models.Q(("hash", ""), _negated=True),
                                ("sequence__isnull", False),
                                ("written_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="written_as_a_whole",
                    ),
                ],
            },
        ),
    ]
