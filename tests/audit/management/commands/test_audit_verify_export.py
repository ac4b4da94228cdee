import pytest
from django.db import connection

from audit.models import LogEntry
from tests.support.log_lines import append, lines_of, rotate

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _log(log_path):
    """A log of its own for each test."""


def test_the_export_is_the_file_and_overwrites_nothing(audit, log_path, tmp_path):
    append(3)
    rotate(log_path, ".1")
    append(2)
    target = tmp_path / "rebuilt.jsonl"
    assert audit("--export", target) == (0, f"5 lines of here written to {target}.\n")
    both = log_path.with_name(log_path.name + ".1").read_bytes() + log_path.read_bytes()
    assert target.read_bytes() == both
    code, output = audit("--export", target)
    assert code == 2
    assert "nothing is overwritten" in output
    assert target.read_bytes() == both


def test_an_altered_row_stops_the_export(audit, tmp_path):
    append(2)
    LogEntry.objects.filter(sequence=2).update(entry='{"event":"else"}')
    code, output = audit("--export", tmp_path / "rebuilt.jsonl")
    assert code == 1
    assert "sequence number 2" in output
    assert not (tmp_path / "rebuilt.jsonl").exists()


@pytest.mark.parametrize(
    ("deleted", "number"), [([1], 1), ([2, 3], 2), ([4], 4)], ids=["first", "two", "one"]
)
def test_an_export_with_missing_rows_is_written_and_reported(audit, tmp_path, deleted, number):
    append(5)
    with connection.cursor() as cursor:
        for one in deleted:
            cursor.execute("DELETE FROM audit_logentry WHERE sequence = %s", [one])
    code, output = audit("--export", tmp_path / "rebuilt.jsonl")
    assert code == 1
    assert f"does not continue at line number {number} of the database" in output
    assert len(lines_of(tmp_path / "rebuilt.jsonl")) == LogEntry.objects.count()


def test_a_missing_row_hidden_by_renumbering_is_reported(audit, tmp_path):
    append(3)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_logentry WHERE sequence = 2")
    LogEntry.objects.filter(sequence=3).update(sequence=2)
    code, output = audit("--export", tmp_path / "rebuilt.jsonl")
    assert code == 1
    assert "does not continue at line number 2 of the database" in output


def test_another_hosts_log_can_be_exported(audit, settings, tmp_path):
    append(2)
    settings.ORACLE_LOG_NAME = "there"
    target = tmp_path / "rebuilt.jsonl"
    assert audit("--export", target, "--host", "here")[0] == 0
    assert len(lines_of(target)) == 2
    assert audit("--host", "here")[0] == 2
