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
    code, said = audit("--export", target)
    assert code == 2
    assert "nothing is overwritten" in said
    assert target.read_bytes() == both


def test_an_altered_row_is_not_exported(audit, tmp_path):
    append(2)
    LogEntry.objects.filter(sequence=2).update(entry='{"event":"else"}')
    code, said = audit("--export", tmp_path / "rebuilt.jsonl")
    assert code == 1
    assert "place 2" in said
    assert not (tmp_path / "rebuilt.jsonl").exists()


@pytest.mark.parametrize(
    ("gone", "place"), [([1], 1), ([2, 3], 2), ([4], 4)], ids=["first", "two", "one"]
)
def test_an_export_with_a_hole_is_written_and_told(audit, tmp_path, gone, place):
    append(5)
    with connection.cursor() as cursor:
        for one in gone:
            cursor.execute("DELETE FROM audit_logentry WHERE sequence = %s", [one])
    code, said = audit("--export", tmp_path / "rebuilt.jsonl")
    assert code == 1
    assert f"at place {place} of the record something is missing" in said
    assert len(lines_of(tmp_path / "rebuilt.jsonl")) == LogEntry.objects.count()


def test_an_export_with_a_hole_that_was_closed_up_is_told(audit, tmp_path):
    append(3)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_logentry WHERE sequence = 2")
    LogEntry.objects.filter(sequence=3).update(sequence=2)
    code, said = audit("--export", tmp_path / "rebuilt.jsonl")
    assert code == 1
    assert "at place 2 of the record something is missing" in said


def test_another_hosts_log_can_be_exported(audit, settings, tmp_path):
    append(2)
    settings.ORACLE_LOG_NAME = "there"
    target = tmp_path / "rebuilt.jsonl"
    assert audit("--export", target, "--host", "here")[0] == 0
    assert len(lines_of(target)) == 2
    assert audit("--host", "here")[0] == 2
