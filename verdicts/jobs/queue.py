"""Jobs by name, on two queues: services enqueue here and never import a task.

A job exists exactly when the state that asks for it does: the queue is a table
of the same database, so enqueueing inside a transaction commits or rolls back
with it. Jobs carry ids only, and each can run twice.
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

from verdicts.jobs.job_signing import signed_at, signed_by_todays_key
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

# A job that was signed with a key we do not know: when it is looked at again, when given up.
ELSEWHERE: Final = timedelta(seconds=5)
KEPT_UNKNOWN: Final = timedelta(days=1)

# By how much a host's clock may be behind another's without losing a job for it.
SKEW: Final = timedelta(seconds=5)

# Where each job runs. A test resolves every name in verdicts.tasks.
QUEUE_OF: Final = {
    FULFIL: GENERATE,
    DELIVER: POST,
    COMPARE: POST,
    SWEEP: POST,
    RECONCILE: POST,
}


def enqueue(job: str, *ids: int, delay: float = 0) -> None:
    """Run `job` with these ids, `delay` seconds from now at the earliest."""
    broker = DelayingBroker(QUEUE_OF[job], delay=delay)
    async_task(f"verdicts.tasks.{job}", *ids, broker=broker, task_name=job)


def is_due(**state: str) -> Q:
    """In that state, and its pause is over.

    A job can come before that: one whose worker died after it had put its work off.
    """
    return Q(Q(due_at=None) | Q(due_at__lte=timezone.now() + SKEW), **state)


def is_stalled(queue: str, *, timeout: float) -> bool:
    """Whether jobs have been free for that long, and nobody has taken one in that time.

    A worker that is killed while it holds the pool's lock stops all the others
    for good, without any of them ending.
    """
    since = timezone.now() - timedelta(seconds=timeout)
    waiting = OrmQ.objects.filter(key=queue, lock__lt=since)
    moving = QueueHeartbeat.objects.filter(queue=queue, moved_at__gt=since)
    return waiting.exists() and not moving.exists()


class DelayingBroker(ORM):
    """The database queue, with exact delays and first come, first served.

    A row is free once its `lock` has passed, so a delay is a lock in the
    future; django-q's own scheduler looks only every 30 s.
    """

    heartbeat: Heartbeat | None = None  # of the pool that this process belongs to

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
        # Another worker may have been faster: then there is simply nothing this time.
        claimed = self._free().filter(pk=row.pk, lock=row.lock).update(lock=self.timeout(row))
        if not claimed:
            return None
        payload = signed_by_todays_key(row.payload)
        if payload is None:
            self._leave(row)
            return None
        QueueHeartbeat.beat(str(self.list_key))
        if self.heartbeat:
            self.heartbeat.taken()
        return [(row.pk, payload)]

    def _leave(self, row: OrmQ) -> None:
        """For a worker that knows the key; while one replaces another, hosts know different ones.

        The state that asked for the job is still there, so that the sweep asks again.
        """
        ours = OrmQ.objects.filter(pk=row.pk)
        if signed_at(row.payload) < timezone.now() - KEPT_UNKNOWN:
            ours.delete()
            logger.error("job %s is dropped: for a day nobody knew the key that signed it", row.pk)
            return
        ours.update(lock=timezone.now() + ELSEWHERE)
        logger.warning("job %s was signed with a key that is not ours: left for others", row.pk)

    def acknowledge(self, task_id: int) -> None:
        """The monitor has a job's result: it is off the queue."""
        super().acknowledge(task_id)
        if self.heartbeat:
            self.heartbeat.done()

    def set_stat(self, key: str, value: str, timeout: int) -> None:
        """The guard says how it is, with every round."""
        super().set_stat(key, value, timeout)
        if self.heartbeat:
            self.heartbeat.rounded()

    def _free(self) -> "QuerySet[OrmQ, OrmQ]":
        connection: Any = self.get_connection()  # closes stale connections first
        free: QuerySet[OrmQ, OrmQ] = connection.filter(key=self.list_key, lock__lte=timezone.now())
        return free
