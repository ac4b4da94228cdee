"""File and rows are reconciled after every kind of failure."""

import json

import pytest
from django.db import OperationalError, connection, transaction

from audit.core.chain import GENESIS, seal, verify
from audit.log import log, writer
from audit.models import LogEntry
from tests.audit.conftest import read_chain
from tests.support.log_entries import checked

pytestmark = pytest.mark.django_db(transaction=True)


def append(count=1):
    with transaction.atomic():
        for _ in range(count):
            log.append(checked())


def in_step(*paths):
    """The files are one chain that equals the rows: each once, in order, none pending."""
    rows = LogEntry.objects.order_by("sequence")
    assert [line["hash"] for line in read_chain(*paths)] == [row.hash for row in rows]
    return list(rows.values_list("sequence", flat=True)) == list(range(1, len(rows) + 1))


def append_and_crash(count):
    """Write lines without marking their rows."""

    def crash(_lines):
        raise OperationalError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "mark", crash)
        append(count)
    assert LogEntry.objects.pending("here").count() == count


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("after", [0, 2])
def test_lines_already_in_the_file_are_marked_and_not_repeated(log_path, before, after):
    append(before)
    append_and_crash(4)
    content = log_path.read_bytes()
    append(after)
    log.sweep()
    assert log_path.read_bytes().startswith(content)
    assert in_step(log_path)
    assert len(read_chain(log_path)) == before + 4 + after


def test_lines_that_were_rotated_away_before_they_were_marked_are_not_repeated(log_path):
    append(2)
    append_and_crash(2)
    aside = log_path.rename(log_path.with_name(log_path.name + ".1"))
    with aside.open("ab") as file:
        file.write(b'{"event":"torn')
    append(1)
    aside.write_bytes(aside.read_bytes().removesuffix(b'{"event":"torn'))
    assert in_step(aside, log_path)
    assert len(read_chain(aside, log_path)) == 5


def test_a_torn_line_is_rewritten_byte_for_byte(log_path):
    append(3)
    whole = log_path.read_bytes()
    for length in (len(whole) - 1, len(whole) - 200):
        log_path.write_bytes(whole[:length])
        assert log.sweep() == 1
        assert log_path.read_bytes() == whole
    assert in_step(log_path)


def test_lines_missing_from_the_file_are_restored_byte_for_byte(log_path, caplog):
    append(5)
    whole = log_path.read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    log_path.write_bytes(first)
    assert log.sweep() == 4
    assert log_path.read_bytes() == whole
    assert "4 lines were missing" in caplog.text

    log_path.write_bytes(first)
    append(1)  # restores first; the next flush writes the new line
    log.sweep()
    assert log_path.read_bytes().startswith(whole)
    assert in_step(log_path)


def test_a_restored_database_continues_from_the_files_last_line(log_path, caplog):
    append(3)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_logentry")
    log.sweep()
    assert "not in the database" not in caplog.text  # nothing had to be written
    append(2)
    assert "continues from that line" in caplog.text
    assert len(read_chain(log_path)) == 5


FORGED = seal(checked(), entry_id="f" * 32, salt="", commitment="", prev=GENESIS).line


@pytest.mark.parametrize(
    "forged",
    [
        "{}\n",
        '{"id":"\\u0000","hash":7,"prev":[]}\n',
        '{"id":[],"score":NaN}\n',
        FORGED.replace("quick", "full"),
    ],
)
def test_a_forged_last_line_is_kept_and_the_chain_skips_it(log_path, caplog, forged):
    append(2)
    sound = log_path.read_text()
    log_path.write_text(sound + forged)
    append(2)
    lines = log_path.read_text().splitlines(keepends=True)
    assert lines[2] == forged
    assert verify(lines[2], json.loads(lines[1])["hash"]) is not None
    assert "continues from the last line that is" in caplog.text
    log_path.write_text("".join(lines[:2] + lines[3:]))
    assert in_step(log_path)


def test_a_line_forged_under_the_id_of_a_pending_row_does_not_replace_it(log_path):
    append(1)
    row = LogEntry(host="here", entry=json.dumps(checked()), public_id="a" * 32)
    row.save()
    forged = seal(
        {**checked(), "approved": False},
        entry_id=row.public_id,
        salt="",
        commitment="",
        prev=LogEntry.objects.get(sequence=1).hash,
    )
    with log_path.open("a") as file:
        file.write(forged.line)
    log.sweep()
    lines = [json.loads(line) for line in log_path.read_text().splitlines()]
    assert [line["approved"] for line in lines] == [True, False, True]
    row.refresh_from_db()
    assert row.hash == lines[2]["hash"]


def test_a_row_reproduces_its_line(log_path):
    append(2)
    rows = LogEntry.objects.written("here")
    lines = [writer.seal_row(row, row.prev).line for row in rows]
    assert "".join(lines) == log_path.read_text()


def test_more_than_a_batch_takes_several_flushes(log_path, monkeypatch):
    monkeypatch.setattr(writer, "BATCH", 10)
    monkeypatch.setattr(log, "flush", lambda: None)
    append(25)
    monkeypatch.undo()
    monkeypatch.setattr(writer, "BATCH", 10)
    assert log.flush() == 10
    assert log.sweep() == 15
    first = log_path.read_bytes().splitlines(keepends=True)[0]
    log_path.write_bytes(first)
    assert log.sweep() == 24
    assert in_step(log_path)


@pytest.mark.parametrize("sync", [True, False])
def test_the_file_is_synced_before_a_row_is_marked(log_path, settings, monkeypatch, sync):
    settings.ORACLE_LOG_SYNC = sync
    steps = []
    mark = writer.mark
    monkeypatch.setattr("os.fdatasync", lambda _fd: steps.append("sync"))
    monkeypatch.setattr(writer, "mark", lambda lines: steps.append("mark") or mark(lines))
    append(1)
    assert steps == (["sync", "mark"] if sync else ["mark"])
    assert log_path.exists()
