"""By itself: PostgreSQL alters no table whose rows were changed twice in the same transaction."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0014_owed_once")]
    operations = [
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(fields=["name"], name="one_email_per_name"),
        ),
    ]
