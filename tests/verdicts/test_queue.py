from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ

from verdicts import queue, tasks

pytestmark = pytest.mark.django_db


def test_every_job_has_a_task_of_its_name():
    assert all(callable(getattr(tasks, job)) for job in queue.QUEUE_OF)


def test_a_job_lives_and_dies_with_its_transaction():
    class Undo(Exception):
        pass

    def enqueue_and_fail():
        queue.enqueue(queue.DELIVER, 1)
        assert OrmQ.objects.count() == 1
        raise Undo

    with pytest.raises(Undo), transaction.atomic():
        enqueue_and_fail()
    assert OrmQ.objects.count() == 0


def test_slow_work_and_post_wait_in_different_queues():
    queue.enqueue(queue.FULFIL, 1)
    queue.enqueue(queue.DELIVER, 1)
    assert list(OrmQ.objects.values_list("key", flat=True)) == [queue.GENERATE, queue.POST]


def test_a_delayed_job_is_not_given_out_early():
    queue.enqueue(queue.DELIVER, 1, delay=60)
    assert queue.DelayingBroker(queue.POST).dequeue() is None
    OrmQ.objects.update(lock=timezone.now() - timedelta(seconds=1))
    assert len(queue.DelayingBroker(queue.POST).dequeue()) == 1


def test_jobs_come_in_the_order_in_which_they_became_free():
    for number, delay in ((1, -1), (2, -3), (3, -2)):
        queue.enqueue(queue.FULFIL, number, delay=delay)
    broker = queue.DelayingBroker(queue.GENERATE)
    order = [OrmQ.objects.get(pk=broker.dequeue()[0][0]).task["args"] for _ in range(3)]
    assert order == [(2,), (3,), (1,)]


def test_a_job_is_given_out_once_until_its_retry_is_due():
    queue.enqueue(queue.FULFIL, 1)
    broker = queue.DelayingBroker(queue.GENERATE)
    assert broker.dequeue()
    assert broker.dequeue() is None


def test_a_queue_is_stalled_when_jobs_wait_and_none_is_taken():
    assert not queue.is_stalled(queue.POST, patience=10)
    queue.enqueue(queue.DELIVER, 1, delay=-11)
    queue.enqueue(queue.DELIVER, 2, delay=-11)
    assert queue.is_stalled(queue.POST, patience=10)
    assert not queue.is_stalled(queue.GENERATE, patience=10)
    queue.DelayingBroker(queue.POST).dequeue()
    assert not queue.is_stalled(queue.POST, patience=10)  # the other one waits its turn
