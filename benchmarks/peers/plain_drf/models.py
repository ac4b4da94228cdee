"""A verdict stored as a database row."""

from typing import ClassVar

from django.db import models


class Verdict(models.Model):
    session_id = models.CharField(max_length=255, primary_key=True)
    tier = models.CharField(max_length=8)
    query = models.TextField()
    verdict = models.JSONField()
    cached_at = models.DateTimeField()
    regen = models.BooleanField()
    regen_reason = models.CharField(max_length=20, null=True)  # noqa: DJ001 - null in the response
    divergence = models.JSONField(null=True)

    objects: ClassVar[models.Manager["Verdict"]] = models.Manager()

    class Meta:
        app_label = "plain_drf"

    def __str__(self) -> str:
        return self.session_id
