"""The job queue: services enqueue jobs by name, and never import a task.

The queue is a table of the same database, so a job commits or rolls back with the state that
needs it. Jobs carry ids only, are delivered at least once, and can each run twice.
"""

import logging
from datetime import timedelta
from time import sleep
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.utils import timezone
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

from verdicts.jobs.job_signing import resign, signed_at
from verdicts.jobs.worker_health import Heartbeat
from verdicts.models import QueueHeartbeat

logger = logging.getLogger(__name__)

GENERATE: Final = "generate"  # slow, bound by the model
POST: Final = "post"  # everything that must not wait for the model

FULFIL: Final = "fulfil_order"
DELIVER: Final = "deliver"
COMPARE: Final = "compare"
SWEEP: Final = "sweep"
RECONCILE: Final = "reconcile"

# A job that was signed with an unknown key: when it is tried again, when it is dropped.
UNKNOWN_KEY_RETRY: Final = timedelta(seconds=5)
UNKNOWN_KEY_TTL: Final = timedelta(days=1)

# How far a host's clock may be behind without delaying a job.
CLOCK_SKEW: Final = timedelta(seconds=5)

# Every job, and the queue that it runs on. The functions of these names are in verdicts.tasks.
JOBS: Final = {
    FULFIL: GENERATE,
    DELIVER: POST,
    COMPARE: POST,
    SWEEP: POST,
    RECONCILE: POST,
}


def enqueue(job: str, *ids: int, delay: float = 0) -> None:
    """Run `job` with these ids, `delay` seconds from now at the earliest."""
    broker = DelayingBroker(JOBS[job], delay=delay)
    async_task(f"verdicts.tasks.{job}", *ids, broker=broker, task_name=job)


def is_due(**state: str) -> Q:
    """In that state, and due.

    A job can run early: one whose worker died after it had rescheduled its work.
    """
    return Q(Q(due_at=None) | Q(due_at__lte=timezone.now() + CLOCK_SKEW), **state)


def is_stalled(queue: str, *, timeout: float) -> bool:
    """Whether jobs have been waiting for `timeout` seconds without a heartbeat in that time.

    A worker that is killed while it holds the pool's lock blocks all the others for good, without
    any of them ending.
    """
    since = timezone.now() - timedelta(seconds=timeout)
    waiting = OrmQ.objects.filter(key=queue, lock__lt=since)
    moving = QueueHeartbeat.objects.filter(queue=queue, moved_at__gt=since)
    return waiting.exists() and not moving.exists()


class DelayingBroker(ORM):
    """The database queue, with exact delays, first in, first out.

    A row is free once its `lock` has passed, so a delay is a lock in the future. django-q's own
    scheduler runs only every 30 s.
    """

    heartbeat: Heartbeat | None = None  # of this process's pool

    def __init__(self, list_key: str | None = None, *, delay: float = 0) -> None:
        super().__init__(list_key)
        self.delay = timedelta(seconds=delay)

    def enqueue(self, task: str) -> int:
        free_from = timezone.now() + self.delay
        row = OrmQ.objects.create(key=self.list_key, payload=task, lock=free_from)
        return int(row.pk)

    def dequeue(self) -> list[tuple[int, str]] | None:
        """Of the free jobs the one that was queued first, claimed; None when there is none."""
        row = self._free().order_by("pk").first()
        if row is None:
            sleep(Conf.POLL)
            return None
        # Another worker may have been faster.
        claimed = self._free().filter(pk=row.pk, lock=row.lock).update(lock=self.timeout(row))
        if not claimed:
            return None
        payload = resign(row.payload)
        if payload is None:
            self._release(row)
            return None
        QueueHeartbeat.beat(str(self.list_key))
        if self.heartbeat:
            self.heartbeat.job_taken()
        return [(row.pk, payload)]

    def _release(self, row: OrmQ) -> None:
        """Leave it for a worker that knows the key: during a key rotation hosts differ.

        If it is dropped, the sweep queues the work again, because its state is still stored.
        """
        ours = OrmQ.objects.filter(pk=row.pk)
        if signed_at(row.payload) < timezone.now() - UNKNOWN_KEY_TTL:
            ours.delete()
            logger.error("job %s is dropped: no worker knew its signing key for a day", row.pk)
            return
        ours.update(lock=timezone.now() + UNKNOWN_KEY_RETRY)
        logger.warning("job %s was signed with an unknown key: left for other workers", row.pk)

    def acknowledge(self, task_id: int) -> None:
        """A job is done and removed from the queue."""
        super().acknowledge(task_id)
        if self.heartbeat:
            self.heartbeat.job_done()

    def set_stat(self, key: str, value: str, timeout: int) -> None:
        """Called by the guard on every round."""
        super().set_stat(key, value, timeout)
        if self.heartbeat:
            self.heartbeat.guard_checked()

    def _free(self) -> "QuerySet[OrmQ, OrmQ]":
        connection: Any = self.get_connection()  # closes stale connections first
        free: QuerySet[OrmQ, OrmQ] = connection.filter(key=self.list_key, lock__lte=timezone.now())
        return free
