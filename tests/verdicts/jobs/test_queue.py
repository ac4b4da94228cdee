from datetime import timedelta

import pytest
from django.core.signing import TimestampSigner, b62_encode
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from verdicts import tasks
from verdicts.jobs import queue

pytestmark = pytest.mark.django_db


def test_every_job_has_a_task_of_its_name():
    assert all(callable(getattr(tasks, job)) for job in queue.JOBS)


def test_a_job_commits_and_rolls_back_with_its_transaction():
    class Undo(Exception):
        pass

    def enqueue_and_fail():
        queue.enqueue(queue.DELIVER, 1)
        assert OrmQ.objects.count() == 1
        raise Undo

    with pytest.raises(Undo), transaction.atomic():
        enqueue_and_fail()
    assert OrmQ.objects.count() == 0


def test_slow_jobs_and_emails_use_different_queues():
    queue.enqueue(queue.FULFIL, 1)
    queue.enqueue(queue.DELIVER, 1)
    assert list(OrmQ.objects.values_list("key", flat=True)) == [queue.GENERATE, queue.POST]


def test_a_delayed_job_is_not_dequeued_early():
    queue.enqueue(queue.DELIVER, 1, delay=60)
    assert queue.DelayingBroker(queue.POST).dequeue() is None
    OrmQ.objects.update(lock=timezone.now() - timedelta(seconds=1))
    assert len(queue.DelayingBroker(queue.POST).dequeue()) == 1


def taken(broker: queue.DelayingBroker) -> int:
    ((row, _),) = broker.dequeue()
    return OrmQ.objects.get(pk=row).task["args"][0]


def test_jobs_are_dequeued_in_order():
    for number in (1, 2, 3):
        queue.enqueue(queue.FULFIL, number)
    broker = queue.DelayingBroker(queue.GENERATE)
    assert [taken(broker) for _ in range(3)] == [1, 2, 3]


def test_a_job_that_was_delayed_or_lost_with_its_worker_keeps_its_place():
    """A retried job is not queued behind jobs that came later."""
    queue.enqueue(queue.FULFIL, 1)
    queue.enqueue(queue.FULFIL, 2, delay=60)
    broker = queue.DelayingBroker(queue.GENERATE)
    assert taken(broker) == 1
    for number in (3, 4):
        queue.enqueue(queue.FULFIL, number, delay=-120)  # free before the others
    OrmQ.objects.filter(lock__gt=timezone.now()).update(lock=timezone.now())  # it is due now
    assert [taken(broker) for _ in range(4)] == [1, 2, 3, 4]


def test_a_job_is_dequeued_once_until_its_retry_is_due():
    queue.enqueue(queue.FULFIL, 1)
    broker = queue.DelayingBroker(queue.GENERATE)
    assert broker.dequeue()
    assert broker.dequeue() is None


def test_a_queue_is_stalled_when_jobs_wait_and_none_is_taken():
    assert not queue.is_stalled(queue.POST, timeout=10)
    queue.enqueue(queue.DELIVER, 1, delay=-11)
    queue.enqueue(queue.DELIVER, 2, delay=-11)
    assert queue.is_stalled(queue.POST, timeout=10)
    assert not queue.is_stalled(queue.GENERATE, timeout=10)
    queue.DelayingBroker(queue.POST).dequeue()
    assert not queue.is_stalled(queue.POST, timeout=10)  # a job was taken, the other waits


OTHER_KEY = "another-key-than-this-test-run-signs-with-0123456789"


def sign_with_another_key(*, days_ago: float = 0) -> None:
    """Sign all queued jobs with another SECRET_KEY."""
    for row in OrmQ.objects.all():
        value, stamp, _ = row.payload.rsplit(":", 2)
        if days_ago:
            stamp = b62_encode(int((timezone.now() - timedelta(days=days_ago)).timestamp()))
        signer = TimestampSigner(key=OTHER_KEY, salt="oracle")
        row.payload = f"{value}:{stamp}:{signer.signature(f'{value}:{stamp}')}"
        row.save()


def test_a_job_signed_with_a_fallback_key_is_signed_anew(settings):
    queue.enqueue(queue.DELIVER, 7)
    sign_with_another_key()
    settings.SECRET_KEY_FALLBACKS = [OTHER_KEY]
    ((_, payload),) = queue.DelayingBroker(queue.POST).dequeue()
    assert SignedPackage.loads(payload)["args"] == (7,)


def test_a_job_signed_with_an_unknown_key_is_left_for_other_workers(settings, caplog):
    queue.enqueue(queue.DELIVER, 7)
    sign_with_another_key()
    queue.enqueue(queue.DELIVER, 8)
    broker = queue.DelayingBroker(queue.POST)
    assert broker.dequeue() is None
    assert "signed with an unknown key" in caplog.text
    ((_, payload),) = broker.dequeue()  # it delays no other job
    assert SignedPackage.loads(payload)["args"] == (8,)
    settings.SECRET_KEY_FALLBACKS = [OTHER_KEY]
    OrmQ.objects.update(lock=timezone.now())
    ((_, payload),) = broker.dequeue()
    assert SignedPackage.loads(payload)["args"] == (7,)


def test_a_job_signed_with_an_unknown_key_is_dropped_after_a_day(caplog):
    queue.enqueue(queue.DELIVER, 7)
    sign_with_another_key(days_ago=1.1)
    assert queue.DelayingBroker(queue.POST).dequeue() is None
    assert OrmQ.objects.count() == 0
    assert "is dropped" in caplog.text


@pytest.mark.parametrize("payload", ["", "nonsense", "a:!:b", "a:zzzzzzzzzzzzzzzzzzzz:b"])
def test_a_malformed_job_is_dropped(payload):
    OrmQ.objects.create(key=queue.POST, payload=payload, lock=timezone.now())
    assert queue.DelayingBroker(queue.POST).dequeue() is None
    assert OrmQ.objects.count() == 0
