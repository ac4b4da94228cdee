"""Reads are written in batches of one row, and emails found by an index of all their states.

That of a few states SQLite used for no query of Django's, which names states by
parameters.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0012_body_as_it_is")]
    operations = [
        migrations.RemoveIndex(model_name="delivery", name="delivery_unfinished"),
        migrations.RemoveIndex(model_name="delivery", name="delivery_unsent"),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(models.F("state"), models.F("id"), name="delivery_state"),
        ),
        migrations.CreateModel(
            name="Reads",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "sessions",
                    models.JSONField(default=dict, help_text="answers from the cache, by session"),
                ),
                (
                    "others",
                    models.JSONField(
                        default=dict, help_text="reads without one, by what came of them"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"verbose_name_plural": "reads"},
        ),
    ]
