"""Models get the names that docs and code use; their tables keep the names they have."""

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

RENAMED = (
    ("Lookups", "LookupLimit", "verdicts_lookups"),
    ("QueuePulse", "QueueHeartbeat", "verdicts_queuepulse"),
    ("Reads", "ReadBatch", "verdicts_reads"),
)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("verdicts", "0020_reads_by_verdict")]

    operations: ClassVar[list[Operation]] = [
        *(migrations.AlterModelTable(old, table) for old, _, table in RENAMED),
        *(migrations.RenameModel(old, new) for old, new, _ in RENAMED),
        migrations.AlterModelOptions("ReadBatch", options={}),
    ]
