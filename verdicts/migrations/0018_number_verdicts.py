"""Every ready-made answer gets its number. By itself: see 0015."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PORTION = 1000
AS_IT_IS = "ALTER TABLE verdicts_cachedverdict SET (toast_tuple_target = 8160)"
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


def keep_as_it_is(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """On the way back, before anything is copied: the table is a new one, and 0012 is not undone."""
    if editor.connection.vendor == "postgresql":
        editor.execute(AS_IT_IS)


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0017_numbered_verdicts")]
    operations = [
        migrations.RunPython(number, take_back),
        migrations.RunPython(migrations.RunPython.noop, keep_as_it_is),
    ]
