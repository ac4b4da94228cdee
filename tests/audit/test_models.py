import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.log import log
from audit.models import AppendOnlyViolation, LogEntry
from tests.support.log_entries import checked

pytestmark = pytest.mark.django_db


def test_entries_cannot_be_changed_or_deleted(log_path):
    row = log.append(checked())
    row.entry = "{}"
    for forbidden in (row.save, row.delete, LogEntry.objects.all().delete):
        with pytest.raises(AppendOnlyViolation):
            forbidden()
    assert LogEntry.objects.get().entry != "{}"
    assert not log_path.exists()


@pytest.mark.parametrize(
    "partial", [{"sequence": 1}, {"written_at": timezone.now()}, {"hash": "a"}]
)
def test_the_columns_of_a_written_row_are_set_together(log_path, partial):
    log.append(checked())
    with pytest.raises(IntegrityError), transaction.atomic():
        LogEntry.objects.update(**partial)
    assert not log_path.exists()


def test_a_sequence_number_is_unique_per_host():
    def written(host, sequence):
        LogEntry.objects.create(
            host=host, entry="{}", written_at=timezone.now(), sequence=sequence, prev="a", hash="b"
        )

    written("here", 1)
    written("there", 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        written("here", 1)


def test_pending_and_latest_entries_are_read_from_an_index():
    """Among ten thousand rows, one of them pending here."""
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
    # SQLite generates the name of a constraint's index.
    assert "one_line_a_place" in plans[2] or "autoindex" in plans[2], plans
    assert not any("Sort" in plan or "TEMP B-TREE" in plan for plan in plans), plans
