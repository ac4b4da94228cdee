"""Counted reads, until they are added to orders and days."""

from django.db import models


class ReadBatch(models.Model):
    """Reads that a web process has counted, until the roll-up adds them to orders and days."""

    verdicts = models.JSONField(default=dict, help_text="cache hits, by verdict")
    others = models.JSONField(default=dict, help_text="other reads, by outcome")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "verdicts_reads"  # its name before

    def __str__(self) -> str:
        return f"reads {self.pk}"
