"""Heartbeats of the job queues."""

from django.db import models
from django.utils import timezone


class QueueHeartbeat(models.Model):
    """When a job was last taken from a queue: how a stuck pool of workers is noticed."""

    queue = models.CharField(max_length=20, primary_key=True)
    moved_at = models.DateTimeField()

    class Meta:
        db_table = "verdicts_queuepulse"  # its name before

    def __str__(self) -> str:
        return f"{self.queue} moved at {self.moved_at}"

    @classmethod
    def beat(cls, queue: str) -> None:
        now = timezone.now()
        if not cls.objects.filter(queue=queue).update(moved_at=now):
            cls.objects.get_or_create(queue=queue, defaults={"moved_at": now})
