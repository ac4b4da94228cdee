"""The numbered answers are the ready-made ones from here on."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0018_number_verdicts")]
    operations = [
        migrations.DeleteModel("CachedVerdict"),
        migrations.RenameModel("NumberedVerdict", "CachedVerdict"),
    ]
