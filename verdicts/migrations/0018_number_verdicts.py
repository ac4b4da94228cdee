"""Every ready-made answer gets its number. By itself: see 0015."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PORTION = 1000
FIELDS = ("session_id", "approved", "body", "etag", "expires_at", "cached_at", "verdict_id")


def copy(apps: Apps, source: str, target: str) -> None:
    rows = apps.get_model("verdicts", source).objects.order_by("session_id")
    into = apps.get_model("verdicts", target)
    into.objects.all().delete()  # of an earlier move to and fro
    after = ""
    while some := list(rows.filter(session_id__gt=after).values(*FIELDS)[:PORTION]):
        into.objects.bulk_create([into(**one) for one in some])
        after = some[-1]["session_id"]


def number(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    copy(apps, "CachedVerdict", "NumberedVerdict")


def take_back(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    copy(apps, "NumberedVerdict", "CachedVerdict")


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0017_numbered_verdicts")]
    operations = [migrations.RunPython(number, take_back)]
