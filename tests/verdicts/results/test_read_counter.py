import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection
from django.utils import timezone

from audit.models import DayCount
from verdicts.models import Order, ReadBatch
from verdicts.reconciliation.sweep import sweep
from verdicts.results import read_counter as module
from verdicts.results import read_rollup
from verdicts.results.read_counter import ReadCounter, hits

pytestmark = pytest.mark.django_db

UNKNOWN = 10**15  # no verdict has this id


@pytest.fixture
def counter(monkeypatch) -> ReadCounter:
    """Without the timer: tests call flush."""
    monkeypatch.setattr(module, "FLUSH_INTERVAL", 3600)
    return ReadCounter()


def shown(order: Order) -> int:
    """The id of the verdict that readers get."""
    return order.verdicts.get().pk


def test_reads_are_counted_in_batches(counter, delivered):
    one, other = delivered("quick"), delivered("quick")
    for order in (one, other, one):
        counter.count(shown(order))
    counted = DayCount.objects.filter(name="hit")
    assert not counted.exists()
    assert counter.flush() == 3
    assert counter.flush() == 0
    one.refresh_from_db()
    assert (one.hits, one.last_read_at.date()) == (2, timezone.now().date())
    counter.count(shown(one))
    counter.flush()
    assert counted.get().count == 4


def test_other_reads_are_counted_by_outcome(counter):
    for outcome in ("too-soon", "verdict", "too-soon"):
        counter.count_other(outcome)
    assert counter.flush() == 0  # no hits
    rows = DayCount.objects.filter(name="read").values_list("key", "count")
    assert dict(rows) == {"too-soon": 2, "verdict": 1}


def test_counts_that_cannot_be_written_are_kept(counter, monkeypatch):
    counter.count(1)
    counter.count_other("verdict")

    def fail(_counted):
        raise DatabaseError

    with monkeypatch.context() as broken:
        broken.setattr(ReadBatch.objects, "bulk_create", fail)
        assert counter.flush() == 0
        counter.count(1)
    assert counter.flush() == 2
    assert DayCount.objects.get(name="read").count == 1


def test_no_count_is_lost_between_threads(counter):
    def count():
        for _ in range(500):
            counter.count(1)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.flush() == 4000


def test_a_hit_is_counted_and_a_miss_is_not(ask, missed):
    order = missed("quick")
    hits.flush()
    DayCount.objects.all().delete()
    Order.objects.update(hits=0)
    ask(order.session_id)
    assert hits.flush() == 0
    ask(order.session_id)
    assert hits.flush() == 1
    assert Order.objects.get().hits == 1


def test_dropped_counts_are_never_written(monkeypatch):
    monkeypatch.setattr(module, "FLUSH_INTERVAL", 0.05)
    counter = ReadCounter()
    counter.count(1)
    counter.discard()
    time.sleep(0.2)
    assert counter.flush() == 0
    assert not DayCount.objects.exists()


def test_many_hits_are_flushed_early(monkeypatch, delivered, transactional_db):
    """Memory stays bounded, however long the flush interval."""
    monkeypatch.setattr(module, "FLUSH_INTERVAL", 3600)
    monkeypatch.setattr(module, "MAX_UNWRITTEN", 4)
    order = delivered("quick")
    counter = ReadCounter()
    others = set(threading.enumerate())
    for verdict_id in (shown(order), UNKNOWN, shown(order)):
        counter.count(verdict_id)
    assert not ReadBatch.objects.exists()
    counter.count(UNKNOWN)
    for thread in set(threading.enumerate()) - others:
        thread.join()
    assert ReadBatch.objects.count() == 1
    assert not DayCount.objects.filter(name="hit").exists()  # the sweep rolls it up
    sweep()
    order.refresh_from_db()
    assert order.hits == 2
    assert DayCount.objects.get(name="hit").count == 4


def test_stop_waits_for_a_write_in_progress(delivered, transactional_db, monkeypatch):
    monkeypatch.setattr(module, "FLUSH_INTERVAL", 0.01)
    order = delivered("quick")
    counter = ReadCounter()
    begun, goes_on = threading.Event(), threading.Event()
    write = ReadBatch.objects.bulk_create

    def slow(counted):
        begun.set()
        assert goes_on.wait(30)
        write(counted)

    with monkeypatch.context() as slowed:
        slowed.setattr(ReadBatch.objects, "bulk_create", slow)
        counter.count(shown(order))
        assert begun.wait(30)
        stop = threading.Thread(target=counter.stop)
        stop.start()
        stop.join(0.2)
        assert stop.is_alive()
        goes_on.set()
        stop.join(30)
    assert ReadBatch.objects.count() + DayCount.objects.filter(name="hit").count() == 1


def test_a_slow_write_occupies_one_thread_only(counter, monkeypatch):
    monkeypatch.setattr(module, "MAX_UNWRITTEN", 2)
    with counter._writing:  # noqa: SLF001 - as a slow write holds it
        for verdict_id in (1, 2):
            counter.count(verdict_id)
        before = threading.active_count()
        for _ in range(50):
            counter.count(1)
        assert threading.active_count() == before
        counter.discard()


def test_a_failed_write_is_not_retried_with_every_hit(counter, monkeypatch):
    tried = []

    def fail(counted):
        tried.extend(one for one in counted if UNKNOWN in one.verdicts)
        raise DatabaseError

    monkeypatch.setattr(module, "MAX_UNWRITTEN", 2)
    monkeypatch.setattr(ReadBatch.objects, "bulk_create", fail)
    others = set(threading.enumerate())
    for verdict_id in (UNKNOWN, 1):
        counter.count(verdict_id)
    for thread in set(threading.enumerate()) - others:
        thread.join(30)
    for _ in range(50):
        counter.count(UNKNOWN)
    assert len(tried) == 1
    counter.discard()


def test_a_batch_is_small_and_added_once(counter, delivered, monkeypatch):
    monkeypatch.setattr(module, "PORTION", 2)
    monkeypatch.setattr(module, "BATCHES", 1)
    orders = [delivered("quick") for _ in range(3)]
    for order in orders:
        counter.count(shown(order))
    assert counter.flush() == 3
    assert ReadBatch.objects.count() == 1
    assert read_rollup.add_up(most=5) == 1
    assert read_rollup.add_up(most=5) == 0
    for order in orders:
        order.refresh_from_db()
    assert [order.hits for order in orders] == [1, 1, 1]


def test_a_batch_that_cannot_be_added_stays_whole(counter, delivered, monkeypatch):
    order = delivered("quick")
    counter.count(shown(order))

    def fail(*_, **__):
        raise DatabaseError

    with monkeypatch.context() as broken:
        broken.setattr(DayCount, "add", fail)
        assert counter.flush() == 1
    order.refresh_from_db()
    assert (order.hits, ReadBatch.objects.count()) == (0, 1)
    sweep()
    order.refresh_from_db()
    assert (order.hits, ReadBatch.objects.count()) == (1, 0)


def test_reads_of_two_verdicts_of_an_order_add_up(ask, counter, missed):
    order = missed("quick")
    ask(order.session_id)  # regenerated
    for verdict_id in order.verdicts.values_list("pk", flat=True):
        counter.count(verdict_id)
    counter.flush()
    order.refresh_from_db()
    assert (order.verdicts.count(), order.hits) == (2, 2)


def test_concurrent_roll_ups_add_nothing_twice(delivered, transactional_db):
    order = delivered("quick")
    ReadBatch.objects.bulk_create([ReadBatch(verdicts={shown(order): 1}) for _ in range(20)])

    def add(_):
        try:
            return read_rollup.add_up(most=20)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as several:
        assert sum(several.map(add, range(4))) <= 20
    read_rollup.add_up(most=20)
    order.refresh_from_db()
    assert order.hits == DayCount.objects.get(name="hit").count == 20
