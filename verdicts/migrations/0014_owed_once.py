"""An email is owed once by its name, wherever the site has moved to since.

Before, it was owed once by its Message-ID, which ends in the site's host name.
"""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, F
from django.db.models.expressions import Value
from django.db.models.functions import StrIndex, Substr


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    emails = apps.get_model("verdicts", "Delivery").objects
    at = StrIndex("message_id", Value("@"))
    emails.update(name=Substr("message_id", 2, at - 2))  # <name@host>
    named = emails.values("name").annotate(number=Count("id"))
    for name in list(named.filter(number__gt=1).values_list("name", flat=True)):
        # Sent under two ids before this was noticed: the first keeps the name.
        first = emails.filter(name=name).earliest("id")
        emails.filter(name=name).exclude(pk=first.pk).update(name=F("message_id"))


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0013_as_it_grows")]
    operations = [
        migrations.AddField(
            model_name="delivery",
            name="name",
            field=models.CharField(max_length=255, default="", editable=False),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
