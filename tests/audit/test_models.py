import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.log import log
from audit.models import AppendOnlyViolation, LogEntry
from tests.support.log_entries import checked

pytestmark = pytest.mark.django_db


def test_an_entry_is_neither_changed_nor_deleted(log_path):
    row = log.append(checked())
    row.entry = "{}"
    for forbidden in (row.save, row.delete, LogEntry.objects.all().delete):
        with pytest.raises(AppendOnlyViolation):
            forbidden()
    assert LogEntry.objects.get().entry != "{}"
    assert not log_path.exists()


@pytest.mark.parametrize("half", [{"sequence": 1}, {"written_at": timezone.now()}, {"hash": "a"}])
def test_a_row_is_marked_as_a_whole_or_not_at_all(log_path, half):
    log.append(checked())
    with pytest.raises(IntegrityError), transaction.atomic():
        LogEntry.objects.update(**half)
    assert not log_path.exists()


def test_a_place_in_a_hosts_chain_is_taken_once():
    def written(host, sequence):
        LogEntry.objects.create(
            host=host, entry="{}", written_at=timezone.now(), sequence=sequence, prev="a", hash="b"
        )

    written("here", 1)
    written("there", 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        written("here", 1)


def test_what_is_pending_and_what_came_last_are_read_from_an_index():
    """Among ten thousand rows, three of them pending."""
    now = timezone.now()
    LogEntry.objects.bulk_create(
        LogEntry(
            host="here" if number % 2 else "there",
            entry='{"event":"tmm_crosscheck"}',
            **({} if number < 3 else {"written_at": now, "sequence": number, "prev": "a"}),
            hash="" if number < 3 else "b",
        )
        for number in range(10_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE audit_logentry")
    pending = LogEntry.objects.pending("here")
    plans = [
        pending[:500].explain(),
        pending.values("pk")[:1].explain(),
        LogEntry.objects.written("here").reverse()[:1].explain(),
    ]
    assert pending.count() == 1
    assert all("log_entry_pending" in plan for plan in plans[:2]), plans
    # SQLite names the index of a constraint itself.
    assert "one_line_a_place" in plans[2] or "autoindex" in plans[2], plans
    assert not any("Sort" in plan or "TEMP B-TREE" in plan for plan in plans), plans
