"""PostgreSQL keeps a ready-made answer as it is: one read of one page, nothing to unpack.

By default it compresses whatever is longer than 2 KB, which most answers are, and
then every hit unpacks it: a sixth of the database's work for it. A longer row than
a page holds is still compressed and put aside.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

AS_IT_IS = "ALTER TABLE verdicts_cachedverdict SET (toast_tuple_target = 8160)"
BY_DEFAULT = "ALTER TABLE verdicts_cachedverdict RESET (toast_tuple_target)"


def keep_as_it_is(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(AS_IT_IS)


def keep_by_default(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(BY_DEFAULT)


class Migration(migrations.Migration):
    dependencies = [("verdicts", "0011_reconcile")]
    operations = [migrations.RunPython(keep_as_it_is, keep_by_default)]
