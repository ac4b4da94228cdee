"""Emails are found by their state through an index of all of them.

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
    ]
