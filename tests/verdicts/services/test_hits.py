import threading
import time

import pytest
from django.db import DatabaseError
from django.utils import timezone

from audit.models import DayCount
from verdicts.models import Order
from verdicts.services import hits as module
from verdicts.services.hits import Hits, hits

pytestmark = pytest.mark.django_db


@pytest.fixture
def counter(monkeypatch) -> Hits:
    """Without the timer: a test flushes by itself."""
    monkeypatch.setattr(module, "EVERY", 3600)
    return Hits()


def test_reads_are_counted_in_batches(counter, paid_order):
    one, other = paid_order(), paid_order()
    for session_id in (one.session_id, other.session_id, one.session_id):
        counter.count(session_id)
    assert not DayCount.objects.exists()
    assert counter.flush() == 3
    assert counter.flush() == 0
    one.refresh_from_db()
    assert (one.hits, one.last_read_at.date()) == (2, timezone.now().date())
    counter.count(one.session_id)
    counter.flush()
    row = DayCount.objects.get()
    assert (row.name, row.count) == ("hit", 4)


def test_other_reads_are_counted_by_what_the_reader_got(counter):
    for outcome in ("too-soon", "verdict", "too-soon"):
        counter.count_other(outcome)
    assert counter.flush() == 0  # no hits
    rows = DayCount.objects.filter(name="read").values_list("key", "count")
    assert dict(rows) == {"too-soon": 2, "verdict": 1}


def test_what_cannot_be_written_is_kept(counter, paid_order, monkeypatch):
    order = paid_order()
    counter.count(order.session_id)
    counter.count_other("verdict")

    def fail(_counted):
        raise DatabaseError

    with monkeypatch.context() as broken:
        broken.setattr(module, "write", fail)
        assert counter.flush() == 0
    assert counter.flush() == 1
    assert DayCount.objects.get(name="read").count == 1


def test_no_count_is_lost_between_threads(counter, paid_order):
    session_id = paid_order().session_id

    def count():
        for _ in range(1000):
            counter.count(session_id)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.flush() == 8000


def test_a_hit_is_counted_and_a_miss_is_none(ask, missed):
    order = missed("quick")
    hits.flush()
    DayCount.objects.all().delete()
    Order.objects.update(hits=0)
    ask(order.session_id)
    assert hits.flush() == 0
    ask(order.session_id)
    assert hits.flush() == 1
    assert Order.objects.get().hits == 1


def test_what_is_forgotten_is_never_written(monkeypatch, paid_order):
    monkeypatch.setattr(module, "EVERY", 0.05)
    counter = Hits()
    counter.count(paid_order().session_id)
    counter.forget()
    time.sleep(0.2)
    assert counter.flush() == 0
    assert not DayCount.objects.exists()


def test_many_sessions_are_written_before_their_time(monkeypatch, delivered, transactional_db):
    """However long it is until the next flush: the counts do not fill the memory."""
    monkeypatch.setattr(module, "EVERY", 3600)
    monkeypatch.setattr(module, "MOST", 3)
    order = delivered("quick")
    counter = Hits()
    others = set(threading.enumerate())
    for session_id in (order.session_id, "cs_test_a0000000", order.session_id):
        counter.count(session_id)
    assert DayCount.objects.filter(name="hit").count() == 0
    counter.count("cs_test_b0000000")
    for thread in set(threading.enumerate()) - others:
        thread.join()
    order.refresh_from_db()
    assert order.hits == 2
    assert DayCount.objects.get(name="hit").count == 4


def test_what_was_written_is_not_written_again_when_the_rest_fails(
    counter, paid_order, monkeypatch
):
    monkeypatch.setattr(module, "PORTION", 1)
    orders = [paid_order() for _ in range(3)]
    for order in orders:
        counter.count(order.session_id)
    write, written = module.write, []

    def fail_at_the_second(counted):
        if len(written) == 1:
            raise DatabaseError
        written.append(write(counted))

    with monkeypatch.context() as broken:
        broken.setattr(module, "write", fail_at_the_second)
        assert counter.flush() == 1
    assert counter.flush() == 2
    for order in orders:
        order.refresh_from_db()
    assert [order.hits for order in orders] == [1, 1, 1]
